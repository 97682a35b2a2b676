package org.softrdma.bench.cpu;

import java.lang.management.ManagementFactory;

/** Bytes that the live threads of this JVM have allocated on its heap. */
public final class AllocationMeter {
    private final com.sun.management.ThreadMXBean threads;

    /** A meter of this JVM. */
    public AllocationMeter() {
        threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    }

    /** Bytes allocated by all live Java threads but the calling one. */
    public long othersBytes() {
        long total = 0;
        long own = Thread.currentThread().threadId();
        long[] ids = threads.getAllThreadIds();
        long[] bytes = threads.getThreadAllocatedBytes(ids);
        for (int i = 0; i < ids.length; i++) {
            if (ids[i] != own) {
                total += Math.max(0, bytes[i]);
            }
        }
        return total;
    }

    /** Bytes allocated by the calling thread. */
    public long ownBytes() {
        return threads.getCurrentThreadAllocatedBytes();
    }
}
