package org.softrdma.stores.herd.part;

import java.lang.foreign.MemorySegment;

/** The pairs of a worker: its part of the keys, which nobody else touches. Owned by the worker's thread. */
public interface HerdPart {
    /** No such pair. */
    long NONE = -1;

    /** Bytes of pairs beyond which a part is large: then most of it is in no cache that is fast (docs/design/herd.md). */
    long LARGE = 1L << 20;

    /**
     * Finds a pair.
     *
     * @param memory in which the key is
     * @param key where it begins
     * @param keyLength its bytes
     * @param hash of the key
     * @return the pair's position, until the next change, or {@link #NONE}
     */
    long find(MemorySegment memory, long key, int keyLength, long hash);

    /** True if the pairs take more than {@link #LARGE} bytes. */
    boolean isLarge();

    /**
     * Reads what finding a key reads of the index, so that the processor has it at hand when the key is looked up.
     *
     * @param hash of the key
     * @return what was read, mixed; the caller keeps it, since the compiler leaves out what nobody uses
     */
    long touchIndex(long hash);

    /**
     * Reads the beginning of each pair that may be that of a key. Needs what {@link #touchIndex} reads.
     *
     * @param hash of the key
     * @return as that
     */
    long touchPairs(long hash);

    /** The memory in which pairs are. */
    MemorySegment memory();

    /** Where the value of a pair begins. */
    long valueAt(long position);

    /** Bytes of the value of a pair. */
    int valueLength(long position);

    /**
     * Stores a pair, whether the key is there or not.
     *
     * @param memory in which key and value are
     * @param key where the key begins
     * @param keyLength its bytes
     * @param hash of the key
     * @param value where the value begins
     * @param valueLength its bytes
     * @return false if there is no room: then nothing has changed
     */
    boolean put(MemorySegment memory, long key, int keyLength, long hash, long value, int valueLength);

    /**
     * Removes a pair.
     *
     * @param memory in which the key is
     * @param key where it begins
     * @param keyLength its bytes
     * @param hash of the key
     * @return false if it was not there
     */
    boolean remove(MemorySegment memory, long key, int keyLength, long hash);

    /** Pairs that are there. May look at the whole index. */
    long pairs();

    /** Bytes of their keys and values. May look at the whole index. */
    long dataBytes();

    /** Bytes of the pairs with all that they need. May look at the whole index. */
    long usedBytes();

    /** Bytes of all memory, used or not. */
    long allBytes();
}
