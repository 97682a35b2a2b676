package org.softrdma.kv.server.stream;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.IdentityHashMap;
import org.softrdma.kv.server.host.OutOfBuffersException;
import tlschannel.BufferAllocator;

/**
 * Buffers for encrypted bytes of the connections of one loop: each for a TLS record, and used again. A connection has one only
 * while a record is not complete, or not sent. The loop's thread.
 */
final class RecordBuffers implements BufferAllocator {
    /** A record (RFC 8446, 5.2) with its header and what older versions add. */
    private static final int RECORD_BYTES = 17 * 1024;

    private static final int MOST_IDLE = 32;

    private final LoopBuffers buffers;
    private final IdentityHashMap<ByteBuffer, ByteBuf> lent = new IdentityHashMap<>();
    private final ArrayDeque<ByteBuf> idle = new ArrayDeque<>(MOST_IDLE);

    /** Nothing is allocated yet. */
    RecordBuffers(LoopBuffers buffers) {
        this.buffers = buffers;
    }

    /**
     * A buffer in direct memory.
     *
     * @param size its capacity
     * @throws OutOfBuffersException if there is no memory for it
     */
    @Override
    public ByteBuffer allocate(int size) {
        ByteBuf used = size <= RECORD_BYTES ? idle.pollLast() : null;
        ByteBuf buffer = used == null ? buffers.allocate(Math.max(size, RECORD_BYTES)) : used;
        ByteBuffer view = buffer.nioBuffer(0, size);
        lent.put(view, buffer);
        return view;
    }

    @Override
    public void free(ByteBuffer view) {
        ByteBuf buffer = lent.remove(view);
        if (buffer == null) {
            throw new IllegalArgumentException("not lent by this allocator: " + view);
        }
        if (buffer.capacity() == RECORD_BYTES && idle.size() < MOST_IDLE) {
            idle.addLast(buffer);
        } else {
            buffer.release();
        }
    }

    /** Gives back what nobody uses. */
    void releaseIdle() {
        while (!idle.isEmpty()) {
            idle.removeLast().release();
        }
    }
}
