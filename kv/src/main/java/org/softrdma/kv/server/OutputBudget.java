package org.softrdma.kv.server;

import io.netty.util.internal.PlatformDependent;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How much memory the answers of all connections may take that their clients do not read. When it is used up, each connection
 * has one short answer at a time, so that whoever reads is served however many do not. Any thread.
 */
final class OutputBudget {
    /** Buffers are made of direct memory; the rest of it is for input, and for the device. */
    private static final int SHARE = 4;

    private final AtomicLong used = new AtomicLong();
    private final long limit;

    OutputBudget() {
        this(PlatformDependent.maxDirectMemory() / SHARE);
    }

    OutputBudget(long limit) {
        this.limit = limit;
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
