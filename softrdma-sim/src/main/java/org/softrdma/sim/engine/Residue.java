package org.softrdma.sim.engine;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.NativeMemory;

/**
 * What a short send left of one segment: staged bytes copied, gathered payload by reference with the binding that says whether
 * it may still be touched. Nothing behind that segment is kept; it is made anew from the queues. Engine thread.
 */
final class Residue {
    private final MemoryOperations memory;
    private final SpareBuffers buffers;
    private MemorySegment copy = MemorySegment.NULL;
    private int copied;
    private long[] addresses = new long[4];
    private long[] lengths = new long[4];
    private Binding[] bindings = new Binding[4];
    private int pieces;
    private SegmentKind kind = SegmentKind.READY_TO_RECEIVE;
    private long sequence;
    private boolean last;
    private long offsetBefore;

    Residue(RnicEngine engine) {
        memory = engine.memory();
        buffers = engine.spareBuffers();
    }

    boolean isEmpty() {
        return pieces == 0;
    }

    /** True if it is part of a request of the send queue, sent from the application's buffer. */
    boolean isRequest() {
        return pieces > 0 && (kind == SegmentKind.WRITE || kind == SegmentKind.SEND);
    }

    /** Sequence of its request. */
    long sequence() {
        return sequence;
    }

    /** Copies what it refers to, at most one segment; what has been deregistered stays a dead reference. Inside a batch. */
    void own(RnicEngine engine) {
        for (int i = 0; i < pieces; i++) {
            Binding binding = bindings[i];
            if (binding != null && binding.isAlive()) {
                int length = (int) lengths[i];
                reserve(copied + length);
                engine.use(binding, addresses[i], length);
                memory.copy(addresses[i], copy.address() + copied, length);
                addresses[i] = copied;
                bindings[i] = null;
                copied += length;
            }
        }
    }

    void clear() {
        if (pieces > 0) {
            Arrays.fill(bindings, 0, pieces, null);
            pieces = 0;
            copied = 0;
            buffers.giveBack(copy);
            copy = MemorySegment.NULL;
        }
    }

    void describe(SegmentKind newKind, long newSequence, boolean newLast, long newOffsetBefore) {
        kind = newKind;
        sequence = newSequence;
        last = newLast;
        offsetBefore = newOffsetBefore;
    }

    void addCopy(long address, int length) {
        reserve(copied + length);
        NativeMemory.copy(address, copy.address() + copied, length);
        add(copied, length, null);
        copied += length;
    }

    void addReference(long address, long length, Binding binding) {
        add(address, length, binding);
    }

    /**
     * Puts the pieces in front of a new batch; they count as its first segment. Inside a batch of the engine.
     *
     * @return false if memory it refers to has been deregistered
     */
    boolean addTo(TransmitBatch batch, RnicEngine engine) {
        for (int i = 0; i < pieces; i++) {
            Binding binding = bindings[i];
            if (binding != null && !binding.isAlive()) {
                return false;
            }
        }
        for (int i = 0; i < pieces; i++) {
            Binding binding = bindings[i];
            if (binding != null) {
                engine.use(binding, addresses[i], lengths[i]);
                batch.gather(addresses[i], lengths[i], binding);
            } else {
                NativeMemory.copy(copy.address() + addresses[i], batch.stage((int) lengths[i]), lengths[i]);
            }
        }
        batch.endSegment(kind, sequence, offsetBefore, last, null);
        return true;
    }

    private void add(long address, long length, @Nullable Binding binding) {
        if (pieces == addresses.length) {
            addresses = Arrays.copyOf(addresses, pieces * 2);
            lengths = Arrays.copyOf(lengths, pieces * 2);
            bindings = Arrays.copyOf(bindings, pieces * 2);
        }
        addresses[pieces] = address;
        lengths[pieces] = length;
        bindings[pieces] = binding;
        pieces++;
    }

    private void reserve(int needed) {
        if (needed <= copy.byteSize()) {
            return;
        }
        MemorySegment larger = buffers.take(needed);
        MemorySegment.copy(copy, 0, larger, 0, copied);
        buffers.giveBack(copy);
        copy = larger;
    }
}
