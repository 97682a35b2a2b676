package org.softrdma.nativeverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * The memory that a device has allocated, by address, so that a registration finds what it must keep alive. Its pages are touched
 * when it is allocated; registering pins them anyway. Thread-safe.
 */
public final class HostMemories {
    private static final long PAGE = 4096;

    private final ReentrantLock lock = new ReentrantLock();
    private final TreeMap<Long, Allocation> byAddress = new TreeMap<>();

    /** Memory that is freed when it is closed and its last registration is gone. Its fields are under the lock. */
    public final class Allocation implements HostMemory {
        private final Arena arena = Arena.ofShared();
        private final MemorySegment segment;
        private int uses = 1;
        private boolean closed;

        private Allocation(long length) {
            try {
                segment = arena.allocate(length, PAGE);
            } catch (OutOfMemoryError | IllegalArgumentException e) {
                arena.close();
                throw new VerbsException(
                        VerbsErrorCode.NO_RESOURCES,
                        "cannot allocate " + length + " bytes: " + e.getMessage()
                                + "; ask for less, or look at ulimit -v",
                        e);
            }
        }

        @Override
        public MemorySegment segment() {
            return segment;
        }

        @Override
        public void close() {
            lock.lock();
            try {
                if (!closed) {
                    closed = true;
                    release();
                }
            } finally {
                lock.unlock();
            }
        }

        /** A registration, or the application, lets go. */
        public void release() {
            lock.lock();
            try {
                if (--uses == 0) {
                    byAddress.remove(segment.address());
                    arena.close();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Allocates memory of at least 1 byte. */
    public HostMemory allocate(long length) {
        if (length < 1) {
            throw new IllegalArgumentException("length=" + length + ": expected at least 1");
        }
        Allocation allocation = new Allocation(length);
        lock.lock();
        try {
            byAddress.put(allocation.segment.address(), allocation);
        } finally {
            lock.unlock();
        }
        return allocation;
    }

    /**
     * Counts a registration of a segment on the memory it lies in.
     *
     * @return the memory, or null if the segment is not of this device
     * @throws IllegalStateException if that memory is closed
     */
    @Nullable
    public Allocation acquire(MemorySegment segment) {
        lock.lock();
        try {
            Map.Entry<Long, Allocation> entry = byAddress.floorEntry(segment.address());
            if (entry == null
                    || segment.address()
                            >= entry.getKey() + entry.getValue().segment.byteSize()) {
                return null;
            }
            Allocation allocation = entry.getValue();
            if (allocation.closed) {
                throw new IllegalStateException("the device memory of this segment is closed");
            }
            allocation.uses++;
            return allocation;
        } finally {
            lock.unlock();
        }
    }
}
