package org.softrdma.kv.server.session;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the memory of answers that clients do not read, over all connections. When it is used up, each connection
 * has one short answer at a time, so that clients that read are served however many do not. Any thread.
 */
final class OutputBudget {
    /** The part of the network's buffers that answers may take; the rest is for input, and for the device. */
    private static final int SHARE = 4;

    private final AtomicLong used = new AtomicLong();
    private final long limit;

    /**
     * Nothing is taken yet.
     *
     * @param bufferBytes of the network, for input and output of all connections
     */
    OutputBudget(long bufferBytes) {
        this.limit = bufferBytes / SHARE;
    }

    void add(long bytes) {
        used.addAndGet(bytes);
    }

    boolean isShort() {
        return used.get() > limit;
    }

    long used() {
        return used.get();
    }
}
