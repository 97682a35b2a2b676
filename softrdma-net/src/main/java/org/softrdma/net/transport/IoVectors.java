package org.softrdma.net.transport;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.memory.NativeMemory;

/**
 * A {@code struct iovec[]} in native memory (readv(2)), in the machine's byte order. One thread.
 *
 * <pre>
 *   entry: base address, 8 bytes | length, 8 bytes
 * </pre>
 */
public final class IoVectors {
    /** Maximum number of entries in one call (IOV_MAX). */
    public static final int MAX_ENTRIES = 1024;

    private static final int LENGTH_OFFSET = Long.BYTES;
    private static final int ENTRY_BYTES = LENGTH_OFFSET + Long.BYTES;

    /** Kept alive as long as this object. */
    @SuppressWarnings("UnusedVariable")
    private final MemorySegment entries;

    private final long address;
    private final int capacity;

    /**
     * Empty entries.
     *
     * @param memory where they are
     * @param capacity number of entries
     */
    public IoVectors(BufferOperations memory, int capacity) {
        entries = memory.allocate((long) capacity * ENTRY_BYTES, Long.BYTES);
        address = entries.address();
        this.capacity = capacity;
    }

    /** Address of an entry. */
    public long entry(int index) {
        return address + (long) index * ENTRY_BYTES;
    }

    /** Sets an entry. */
    public void set(int index, long base, long length) {
        Objects.checkIndex(index, capacity);
        NativeMemory.putNativeLong(entry(index), base);
        NativeMemory.putNativeLong(entry(index) + LENGTH_OFFSET, length);
    }

    /** Base address of an entry. */
    public long base(int index) {
        return NativeMemory.getNativeLong(entry(index));
    }

    /** Bytes of the first entries together. */
    public long total(int count) {
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += length(i);
        }
        return total;
    }

    /** Bytes of an entry. */
    public long length(int index) {
        return NativeMemory.getNativeLong(entry(index) + LENGTH_OFFSET);
    }
}
