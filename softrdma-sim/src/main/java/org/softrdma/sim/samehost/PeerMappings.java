package org.softrdma.sim.samehost;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.net.kernel.Descriptor;
import org.softrdma.net.kernel.SealedMemory;

/**
 * The memory of peers that a device's connections read: a file that several of them were handed is mapped once. With a
 * mapping for each connection, each would have page tables of its own, 1/512 of the memory it has read, and would take
 * its own faults at every page. Thread-safe.
 */
final class PeerMappings {
    private static final String DESCRIPTORS = "/proc/self/fd/";
    /**
     * What tells one file from another while either is mapped. Numbers of such files have 64 bits since Linux 5.9; before,
     * one comes again after 2^32 others. Not the times: they change when the owner writes.
     */
    private static final String IDENTITY = "unix:dev,ino";

    private final ReentrantLock lock = new ReentrantLock();
    /** Under the lock. */
    private final Map<Key, Mapping> mappings = new HashMap<>();

    /**
     * What is mapped.
     *
     * @param device of the file
     * @param inode number of the file
     * @param length bytes
     */
    private record Key(long device, long inode, long length) {}

    /**
     * Maps memory of another process for reading, or takes part in the mapping that there is.
     *
     * @param file its descriptor, which this call closes in any case
     * @param length bytes that it must have
     * @throws IOException as {@link SealedMemory#open}
     */
    Mapping open(int file, long length) throws IOException {
        Key key = key(file, length);
        lock.lock();
        try {
            Mapping there = mappings.get(key);
            if (there == null) {
                return add(key, SealedMemory.open(file, length));
            }
            Descriptor.close(file); // of memory, as the one that is mapped
            there.users++;
            return there;
        } finally {
            lock.unlock();
        }
    }

    /** Not under the lock: the file may be of a file system that answers late. */
    private static Key key(int file, long length) throws IOException {
        try {
            Map<String, Object> attributes = Files.readAttributes(Path.of(DESCRIPTORS + file), IDENTITY);
            return new Key(number(attributes, "dev"), number(attributes, "ino"), length);
        } catch (Throwable e) {
            Descriptor.close(file);
            throw e;
        }
    }

    private static long number(Map<String, Object> attributes, String name) throws IOException {
        if (attributes.get(name) instanceof Number number) {
            return number.longValue();
        }
        throw new IOException("no file attribute " + name + ": " + attributes);
    }

    private Mapping add(Key key, SealedMemory memory) {
        try {
            Mapping mapping = new Mapping(key, memory);
            mappings.put(key, mapping);
            return mapping;
        } catch (Throwable e) {
            mappings.remove(key); // a map that cannot grow has it all the same
            memory.close();
            throw e;
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
            if (leave()) {
                memory.close();
            }
        }

        private boolean leave() {
            lock.lock();
            try {
                users--;
                if (users > 0) {
                    return false;
                }
                mappings.remove(key);
                return true;
            } finally {
                lock.unlock();
            }
        }
    }
}
