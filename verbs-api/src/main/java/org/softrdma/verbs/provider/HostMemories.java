package org.softrdma.verbs.provider;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.HostMemory;

/**
 * The memory that devices have allocated, by address, so that a registration finds what it must keep alive. There is
 * one table for the process, because memory of one device may be registered on another, even of another provider.
 * Thread-safe.
 */
public final class HostMemories {
    private static final ConcurrentSkipListMap<Long, Allocation> BY_ADDRESS = new ConcurrentSkipListMap<>();

    private HostMemories() {}

    /**
     * Adds memory that was just allocated.
     *
     * @param segment all of it
     * @param resident its pages stay in memory whether they are locked or not
     * @param free frees it; called once, also if this throws
     */
    public static Allocation add(MemorySegment segment, boolean resident, Runnable free) {
        try {
            Allocation allocation = new Allocation(segment, resident, free);
            BY_ADDRESS.put(segment.address(), allocation);
            return allocation;
        } catch (Throwable e) {
            free.run();
            throw e;
        }
    }

    /**
     * Counts a registration of a segment on the memory it lies in.
     *
     * @param segment to be registered
     * @return the memory, or null if no device has allocated it
     * @throws IllegalStateException if that memory is closed, or the arena of the segment is
     */
    public static @Nullable Allocation acquire(MemorySegment segment) {
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException(
                    "this memory has been freed: expected a segment whose arena stays open until the region is closed");
        }
        Map.Entry<Long, Allocation> entry = BY_ADDRESS.floorEntry(segment.address());
        if (entry == null || segment.address() >= entry.getValue().end()) {
            return null;
        }
        if (!entry.getValue().acquire()) {
            throw new IllegalStateException("the device memory of this segment is closed");
        }
        return entry.getValue();
    }

    /**
     * Memory that counts its registrations. It is freed once it is closed and the last of them is gone. Thread-safe.
     */
    public static final class Allocation implements HostMemory {
        private static final int CLOSED = 1 << 31;

        private final MemorySegment segment;
        private final long end;
        private final boolean resident;
        private final Runnable free;
        private final Closing closing = new Closing();
        /** Number of live registrations, with the sign bit set once closed. */
        private final AtomicInteger uses = new AtomicInteger();

        private Allocation(MemorySegment segment, boolean resident, Runnable free) {
            this.segment = segment;
            this.resident = resident;
            this.free = free;
            end = segment.address() + segment.byteSize();
        }

        @Override
        public MemorySegment segment() {
            if (uses.get() < 0) {
                throw new IllegalStateException("this memory is closed");
            }
            return segment;
        }

        /** First address; also once it is closed. */
        public long address() {
            return segment.address();
        }

        /** Behind its last byte; also once it is closed. */
        public long end() {
            return end;
        }

        /** True if its pages stay in memory whether they are locked or not. */
        public boolean isResident() {
            return resident;
        }

        private boolean acquire() {
            int seen = uses.get();
            while (seen >= 0) {
                if (uses.compareAndSet(seen, seen + 1)) {
                    return true;
                }
                seen = uses.get();
            }
            return false;
        }

        /** A registration has ended. */
        public void release() {
            if (uses.decrementAndGet() == CLOSED) {
                giveBack();
            }
        }

        @Override
        public void close() {
            closing.once(() -> {
                if (uses.getAndUpdate(count -> count | CLOSED) == 0) {
                    giveBack();
                }
            });
        }

        /**
         * Frees it although it may be registered: whoever could use its registrations is gone, as a simulated process that was
         * killed.
         */
        public void abandon() {
            // It may be closed, and not freed for registrations that nobody will ever close.
            if (uses.getAndSet(CLOSED) != CLOSED) {
                giveBack();
            }
        }

        private void giveBack() {
            BY_ADDRESS.remove(segment.address(), this);
            free.run();
        }
    }
}
