package org.softrdma.sanitiser.watch;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * What some memory contained, as a hash of each of up to 1024 blocks, to tell whether and where it has changed.
 *
 * <p>A block is at least 8 bytes, so memory of up to 8 KiB is told to the word. The hash multiplies by an odd number
 * after each word: one changed word always changes it, several do but for one case in 2^64. Memory is read through its
 * segment, which refuses when it was freed.
 */
final class ContentPrint {
    private static final int MOST_BLOCKS = 1024;
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
    private static final int FOLD = 32;

    private final MemorySegment memory;
    private final long blockBytes;
    private final long[] hashes;

    private ContentPrint(MemorySegment memory) {
        this.memory = memory;
        long length = memory.byteSize();
        long perBlock = (length + MOST_BLOCKS - 1) / MOST_BLOCKS;
        blockBytes = Math.max(Long.BYTES, (perBlock + Long.BYTES - 1) / Long.BYTES * Long.BYTES);
        hashes = new long[(int) ((length + blockBytes - 1) / blockBytes)];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = hash(i);
        }
    }

    /** Of memory now; null if this thread cannot read it. */
    static @Nullable ContentPrint of(MemorySegment memory) {
        return isReadable(memory) ? new ContentPrint(memory) : null;
    }

    /** True if this thread can read the memory now. */
    boolean isReadable() {
        return isReadable(memory);
    }

    /** True if the memory was freed. */
    boolean isGone() {
        return !memory.scope().isAlive();
    }

    /**
     * Where the memory has changed.
     *
     * @param from bytes from its start; blocks that begin before are not looked at
     * @return first byte of the first block that has changed, or -1 if none has
     */
    long firstChange(long from) {
        for (int i = (int) ((from + blockBytes - 1) / blockBytes); i < hashes.length; i++) {
            if (hash(i) != hashes[i]) {
                return i * blockBytes;
            }
        }
        return -1;
    }

    private static boolean isReadable(MemorySegment memory) {
        return memory.scope().isAlive() && memory.isAccessibleBy(Thread.currentThread());
    }

    private long hash(int block) {
        long at = block * blockBytes;
        long end = Math.min(memory.byteSize(), at + blockBytes);
        long hash = end - at;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            hash = mixed(hash, memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
        }
        for (; at < end; at++) {
            hash = mixed(hash, memory.get(ValueLayout.JAVA_BYTE, at));
        }
        return hash;
    }

    private static long mixed(long hash, long word) {
        long product = (hash ^ word) * MULTIPLIER;
        return product ^ (product >>> FOLD);
    }
}
