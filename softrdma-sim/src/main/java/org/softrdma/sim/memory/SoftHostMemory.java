package org.softrdma.sim.memory;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemorySource;

/** Memory that counts its registrations and is unmapped when it is closed and the last of them is gone. Thread-safe. */
public final class SoftHostMemory implements HostMemory {
    private static final int CLOSED = 1 << 31;

    private final PageMemory memory;
    private final Runnable onRelease;
    private final boolean resident;
    /** Number of live registrations, with the sign bit set once closed. */
    private final AtomicInteger uses = new AtomicInteger();

    /**
     * Allocates.
     *
     * @param length bytes
     * @param source where its pages come from
     * @param onRelease called once when the memory is about to be unmapped
     */
    SoftHostMemory(long length, MemorySource source, Runnable onRelease) {
        memory = PageMemory.allocate(length, source);
        resident = source instanceof MemorySource.HugePages;
        this.onRelease = onRelease;
    }

    @Override
    public MemorySegment segment() {
        return memory.segment();
    }

    /** True if its pages stay in memory whether they are locked or not. */
    boolean isResident() {
        return resident;
    }

    /** Counts a registration; false if the memory is closed. */
    boolean acquire() {
        int seen = uses.get();
        while (seen >= 0) {
            if (uses.compareAndSet(seen, seen + 1)) {
                return true;
            }
            seen = uses.get();
        }
        return false;
    }

    /** Uncounts a registration. */
    void release() {
        if (uses.decrementAndGet() == CLOSED) {
            unmap();
        }
    }

    @Override
    public void close() {
        int seen = uses.get();
        while (seen >= 0) {
            if (uses.compareAndSet(seen, seen | CLOSED)) {
                if (seen == 0) {
                    unmap();
                }
                return;
            }
            seen = uses.get();
        }
    }

    private void unmap() {
        onRelease.run();
        memory.close();
    }
}
