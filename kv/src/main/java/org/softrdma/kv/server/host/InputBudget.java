package org.softrdma.kv.server.host;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of input that has come and waits, because its connection has stopped in the middle of it; of all connections
 * of a network. While the budget is used up, every connection receives into small buffers: it is served, however many
 * others wait. Any thread.
 */
public final class InputBudget {
    /** Capacity of a small buffer. */
    public static final int SMALL_BYTES = 4096;

    /** The part of the network's buffers that waiting input may take; as much as waiting output. */
    private static final int SHARE = 4;

    private final AtomicLong waiting = new AtomicLong();
    private final long limit;

    /**
     * Nothing waits yet.
     *
     * @param bufferBytes of the network, for input and output of all connections
     */
    public InputBudget(long bufferBytes) {
        this.limit = bufferBytes / SHARE;
    }

    /**
     * A buffer of input will not be used up at once.
     *
     * @param capacity of the buffer, in bytes
     */
    public void waits(int capacity) {
        waiting.addAndGet(capacity);
    }

    /**
     * A buffer that waited is used up.
     *
     * @param capacity of the buffer, in bytes
     */
    public void ended(int capacity) {
        waiting.addAndGet(-capacity);
    }

    /** True while it is used up. */
    public boolean isShort() {
        return waiting.get() > limit;
    }

    /** Bytes that wait. */
    public long waiting() {
        return waiting.get();
    }
}
