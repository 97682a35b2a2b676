package org.softrdma.kv.server.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.internal.OutOfDirectMemoryError;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.host.InputBudget;
import org.softrdma.kv.server.host.OutOfBuffersException;

/**
 * Buffers of the connections of one loop: for output, used again; and one for input, which belongs to the connection whose
 * turn it is. The loop's thread.
 */
final class LoopBuffers {
    /** What a connection asks for, unless memory is short or its answer is longer. */
    private static final int OUTPUT_BYTES = 64 * 1024;

    /** As many as go with one call at the end of a turn. */
    private static final int MOST_IDLE = 32;

    /** The part of the memory for buffers that a loop may keep idle. */
    private static final int IDLE_SHARE = 32;

    private static final int INPUT_BYTES = 16 * 1024;

    private final ByteBufAllocator allocator;
    private final InputBudget inputBudget;
    private final ArrayDeque<ByteBuf> idle = new ArrayDeque<>(MOST_IDLE);
    private final RecordBuffers records = new RecordBuffers(this);
    private final int mostIdle;
    private @Nullable ByteBuf input;

    /**
     * Nothing is allocated yet.
     *
     * @param allocator of direct memory
     * @param inputBudget limits input that is kept
     * @param bufferBytes memory for the buffers of this loop
     */
    LoopBuffers(ByteBufAllocator allocator, InputBudget inputBudget, long bufferBytes) {
        this.allocator = allocator;
        this.inputBudget = inputBudget;
        mostIdle = (int) Math.min(MOST_IDLE, bufferBytes / IDLE_SHARE / OUTPUT_BYTES);
    }

    /**
     * A buffer for output.
     *
     * @param length room that it has at least
     * @throws OutOfBuffersException if there is no memory for it
     */
    ByteBuf output(int length) {
        ByteBuf used = length == OUTPUT_BYTES ? idle.pollLast() : null;
        return used == null ? allocate(length) : used;
    }

    /** Takes back what {@link #output} gave. */
    void outputDone(ByteBuf output) {
        if (output.capacity() == OUTPUT_BYTES && idle.size() < mostIdle) {
            idle.addLast(output);
        } else {
            output.release();
        }
    }

    /**
     * The buffer for input, free from its start to its capacity.
     *
     * @throws OutOfBuffersException if there is no memory for it
     */
    ByteBuf input() {
        int length = inputBudget.isShort() ? InputBudget.SMALL_BYTES : INPUT_BYTES;
        ByteBuf present = input;
        if (present != null && present.capacity() < length) { // of a time when memory was short
            input = null;
            present.release();
            present = null;
        }
        if (present == null) {
            present = allocate(length);
            input = present;
        }
        return present;
    }

    /** A connection keeps the input that came last, until {@link #keptDone}. */
    void keep(ByteBuf kept) {
        inputBudget.waits(kept.capacity());
        input = null;
    }

    /** Takes back what was kept. */
    void keptDone(ByteBuf kept) {
        inputBudget.ended(kept.capacity());
        kept.release();
    }

    /** Buffers for TLS records. */
    RecordBuffers records() {
        return records;
    }

    /**
     * Direct memory of this length; the caller releases it.
     *
     * @throws OutOfBuffersException if there is none
     */
    ByteBuf allocate(int length) {
        try {
            return allocator.directBuffer(length, length);
        } catch (OutOfDirectMemoryError e) {
            releaseIdle();
        }
        try {
            return allocator.directBuffer(length, length);
        } catch (OutOfDirectMemoryError e) {
            throw new OutOfBuffersException(e);
        }
    }

    private void releaseIdle() {
        records.releaseIdle();
        while (!idle.isEmpty()) {
            idle.removeLast().release();
        }
    }

    /** Gives the memory back, when no connection is left. */
    void close() {
        releaseIdle();
        if (input != null) {
            input.release();
            input = null;
        }
    }
}
