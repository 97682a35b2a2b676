package org.softrdma.sim.carrier;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.Binding;

/**
 * Where the payload of the segment goes that is being received: runs of memory, one after the other. A run was granted in a batch;
 * in a later one its {@link Binding} is asked again. Engine thread only.
 */
public final class Placement {
    /** A payload with this much left is large: a system call for its header alone costs less than copying it. */
    static final int LARGE_BYTES = 16 * 1024;

    private final RnicEngine engine;

    private int payload;
    private int left;
    private long runAddress;
    private int runLeft;
    private @Nullable Binding runBinding;
    private long runEpoch;

    /** Of a stream on which nothing has come. */
    public Placement(RnicEngine engine) {
        this.engine = engine;
    }

    /** A segment with this much payload begins; without a run yet. */
    public void begin(int bytes) {
        payload = bytes;
        left = bytes;
        runLeft = 0;
    }

    /**
     * A run begins, memory that was granted in this batch.
     *
     * @param row of the stag table
     * @param address its first address as the row names it
     * @param length its bytes, at most {@link #left}
     */
    public void run(int row, long address, int length) {
        Binding binding = engine.stags().binding(row);
        runBinding = binding;
        runAddress = binding.address() + engine.stags().offset(row, address);
        runLeft = length;
        runEpoch = engine.epoch().current();
        engine.use(binding, runAddress, length);
    }

    /** Bytes of payload of the segment. */
    public int payload() {
        return payload;
    }

    /** True if the payload of the last segment that had room for one was large. */
    boolean isLarge() {
        return payload >= LARGE_BYTES;
    }

    /** Bytes of payload that are to come. */
    public int left() {
        return left;
    }

    /** Bytes of payload that have come. */
    public int placed() {
        return payload - left;
    }

    /** Raw address where the run goes on. */
    long runAddress() {
        return runAddress;
    }

    /** Bytes left of the run. */
    int runLeft() {
        return runLeft;
    }

    /** Bytes were put where the run goes on. */
    void advance(int length) {
        runAddress += length;
        runLeft -= length;
        left -= length;
    }

    /** True if the run may be written in this batch; false if its memory was deregistered since an earlier one. */
    boolean mayWrite() {
        if (runEpoch == engine.epoch().current()) {
            return true;
        }
        Binding binding = runBinding;
        if (binding == null || !binding.isAlive()) {
            return false;
        }
        engine.use(binding, runAddress, runLeft);
        runEpoch = engine.epoch().current();
        return true;
    }
}
