package org.softrdma.sim.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.Binding;

/**
 * Where the payload of the segment goes that is being received: runs of memory, one after the other. A run was granted in a batch;
 * in a later one its {@link Binding} is asked again. Of a message into polled memory the end is held back ({@link
 * HeldBack}) until {@link #complete}. Engine thread only.
 */
public final class Placement {
    /** A payload with this much left is large: a system call for its header alone costs less than copying it. */
    public static final int LARGE_BYTES = 16 * 1024;

    private final RnicEngine engine;
    private final HeldBack heldBack;

    private int payload;
    private int left;
    private long runAddress;
    private int runLeft;
    private @Nullable Binding runBinding;
    private long runEpoch;
    /** The memory of the run is moved by whole words. */
    private boolean polled;

    /** Of a stream on which nothing has come. */
    public Placement(RnicEngine engine) {
        this.engine = engine;
        heldBack = new HeldBack(engine.memory());
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
        long rawAddress = binding.address() + engine.stags().offset(row, address);
        if (heldBack.length() > 0 && (binding != runBinding || rawAddress != heldBack.end())) {
            settle();
        }
        runBinding = binding;
        runAddress = rawAddress;
        runLeft = length;
        runEpoch = engine.epoch().current();
        polled = binding.isPolled();
        engine.use(binding, runAddress - heldBack.length(), (long) runLeft + heldBack.length());
    }

    /**
     * The message goes on elsewhere: in the next entry of a RECV, or because the peer breaks the rule that segments go
     * on where the last one ended (RFC 5041 section 5.3), or in other memory after a swap. What comes later is still
     * placed last.
     */
    private void settle() {
        if (mayWriteHeld()) {
            heldBack.release();
        } else {
            heldBack.drop();
        }
    }

    /**
     * The message is complete: if its end was held back, it is placed.
     *
     * @return false if its memory was deregistered since it came
     */
    public boolean complete() {
        if (heldBack.length() == 0) {
            return true;
        }
        if (!mayWriteHeld()) {
            heldBack.drop();
            return false;
        }
        heldBack.release();
        return true;
    }

    /** The message will not be complete: its end, if it was held back, is not placed. */
    public void abandon() {
        heldBack.drop();
    }

    /** Bytes of payload of the segment. */
    public int payload() {
        return payload;
    }

    /** True if the payload of the last segment that had room for one was large, and not for polled memory. */
    public boolean isLarge() {
        return payload >= LARGE_BYTES && !polled;
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
    public long runAddress() {
        return runAddress;
    }

    /** Bytes left of the run. */
    public int runLeft() {
        return runLeft;
    }

    /**
     * Bytes left of the run that the kernel may put there: none in polled memory, which it does not move by whole
     * words.
     */
    public int straightLeft() {
        return polled ? 0 : runLeft;
    }

    /**
     * Puts bytes where the run goes on, which may be written.
     *
     * @param from their address
     * @param length at most {@link #runLeft}
     * @return false if the memory is another process's, and cannot be written there
     */
    public boolean put(long from, int length) {
        boolean done = true;
        if (polled) {
            heldBack.put(from, runAddress, length);
        } else {
            done = engine.memory().copyTo(from, Objects.requireNonNull(runBinding), runAddress, length);
        }
        advance(length);
        return done;
    }

    /** True if bytes could not be {@link #put} because the process whose memory it is has ended. */
    public boolean ownerHasEnded() {
        Binding binding = runBinding;
        return binding != null && binding.ownerHasEnded();
    }

    /** Bytes were put where the run goes on. */
    public void advance(int length) {
        runAddress += length;
        runLeft -= length;
        left -= length;
    }

    /** True if the run may be written in this batch; false if its memory was deregistered since an earlier one. */
    public boolean mayWrite() {
        return mayUse(runAddress - heldBack.length(), (long) runLeft + heldBack.length());
    }

    /** The same of what is held back, which is the end of the last run that was begun. */
    private boolean mayWriteHeld() {
        return mayUse(heldBack.end() - heldBack.length(), heldBack.length());
    }

    private boolean mayUse(long rawAddress, long length) {
        if (runEpoch == engine.epoch().current()) {
            return true;
        }
        Binding binding = runBinding;
        if (binding == null || !binding.isAlive()) {
            return false;
        }
        engine.use(binding, rawAddress, length);
        runEpoch = engine.epoch().current();
        return true;
    }
}
