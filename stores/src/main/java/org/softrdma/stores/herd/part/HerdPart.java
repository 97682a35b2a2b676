package org.softrdma.stores.herd.part;

import java.lang.foreign.MemorySegment;

/** The pairs of a worker: its part of the keys, which nobody else touches. Owned by the worker's thread. */
public interface HerdPart {
    /** No such pair. */
    long NONE = -1;

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
