package org.softrdma.sim.carrier;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.wire.MessageKind;

/**
 * The rest of a segment after a short send: staged bytes are copied, gathered payload is kept by reference, with the
 * binding that says whether it may still be used. Segments behind it are not kept; they are created again from the
 * queues. Engine thread.
 */
final class PartialSegment {
    private final RnicEngine engine;
    private final MemoryOperations memory;
    private final SpareBuffers buffers;
    private MemorySegment copy = MemorySegment.NULL;
    private int copied;
    private long[] addresses = new long[4];
    private long[] lengths = new long[4];
    private Binding[] bindings = new Binding[4];
    private int pieces;
    private MessageKind kind = MessageKind.READY_TO_RECEIVE;
    private long sequence;
    private boolean last;
    private long offsetBefore;

    PartialSegment(RnicEngine engine, SpareBuffers buffers) {
        this.engine = engine;
        this.buffers = buffers;
        memory = engine.memory();
    }

    boolean isEmpty() {
        return pieces == 0;
    }

    /** True if it is part of a request of the send queue. */
    boolean isRequest() {
        return pieces > 0 && kind.isRequest();
    }

    /** Sequence of its request. */
    long sequence() {
        return sequence;
    }

    /**
     * Copies the payload it refers to, at most one segment; deregistered memory stays a dead reference. Inside a batch.
     */
    void own() {
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

    void describe(MessageKind newKind, long newSequence, boolean newLast, long newOffsetBefore) {
        kind = newKind;
        sequence = newSequence;
        last = newLast;
        offsetBefore = newOffsetBefore;
    }

    private void addCopy(long address, int length) {
        reserve(copied + length);
        NativeMemory.copy(address, copy.address() + copied, length);
        add(copied, length, null);
        copied += length;
    }

    /**
     * Puts the pieces in front of a new batch; they count as its first segment. Inside a batch of the engine.
     *
     * @return false if memory it refers to has been deregistered
     */
    boolean addTo(TransmitBatch batch) {
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

    /**
     * Keeps the bytes of a batch between two positions: the rest of a segment after a short send. Inside the batch's
     * epoch.
     */
    void save(TransmitBatch batch, long from, long to) {
        clear();
        long position = 0;
        for (int i = 0; i < batch.entries() && position < to; i++) {
            long length = batch.vectors().length(i);
            long start = Math.max(from, position);
            long end = Math.min(to, position + length);
            if (start < end) {
                long address = batch.vectors().base(i) + (start - position);
                Binding binding = batch.binding(i, address, engine.stags());
                if (binding == null) {
                    addCopy(address, Math.toIntExact(end - start));
                } else {
                    add(address, end - start, binding);
                }
            }
            position += length;
        }
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
