package org.softrdma.sim.samehost;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.sim.kernel.SealedMemory;

/**
 * The memory of peers that a device's connections read: a file that several of them were handed is mapped once. With a
 * mapping for each connection, each would have page tables of its own, 1/512 of the memory it has read, and would take
 * its own faults at every page. Thread-safe.
 */
final class PeerMappings {
    private static final String DESCRIPTORS = "/proc/self/fd/";
    /**
     * What tells one file from another while either is mapped. Kernels before 5.9 number files modulo 2^32, so the number
     * alone may come again; the time of creation, which ctime is for sealed memory, cannot.
     */
    private static final String IDENTITY = "unix:dev,ino,ctime";

    private final ReentrantLock lock = new ReentrantLock();
    /** Under the lock. */
    private final Map<Key, Mapping> mappings = new HashMap<>();

    /**
     * What is mapped.
     *
     * @param file attributes that tell it from others
     * @param length bytes
     */
    private record Key(Map<String, Object> file, long length) {}

    /**
     * Maps memory of another process for reading, or takes part in the mapping that there is.
     *
     * @param file its descriptor, which this call closes in any case
     * @param length bytes that it must have
     * @throws IOException as {@link SealedMemory#open}
     */
    Mapping open(int file, long length) throws IOException {
        boolean closed = false;
        lock.lock();
        try {
            Key key = new Key(Files.readAttributes(Path.of(DESCRIPTORS + file), IDENTITY), length);
            Mapping there = mappings.get(key);
            if (there != null) {
                there.users++;
                return there;
            }
            closed = true; // by this:
            return add(key, SealedMemory.open(file, length));
        } finally {
            lock.unlock();
            if (!closed) {
                SealedMemory.close(file);
            }
        }
    }

    private Mapping add(Key key, SealedMemory memory) {
        boolean added = false;
        try {
            Mapping mapping = new Mapping(key, memory);
            mappings.put(key, mapping);
            added = true;
            return mapping;
        } finally {
            if (!added) {
                memory.close();
            }
        }
    }

    /** A connection's part in a mapping. Close once for each {@link #open}. */
    final class Mapping implements AutoCloseable {
        private final Key key;
        private final SealedMemory memory;
        /** Under the lock. */
        private int users = 1;

        private Mapping(Key key, SealedMemory memory) {
            this.key = key;
            this.memory = memory;
        }

        /** First address. */
        long address() {
            return memory.address();
        }

        /** Unmaps it if nobody else reads it. */
        @Override
        public void close() {
            lock.lock();
            try {
                users--;
                if (users == 0) {
                    mappings.remove(key);
                    memory.close();
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
