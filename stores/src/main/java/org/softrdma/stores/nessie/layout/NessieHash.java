package org.softrdma.stores.nessie.layout;

import java.lang.foreign.MemorySegment;
import org.softrdma.stores.hash.SeededHash;

/**
 * In which slots of all index tables a key may be. A slot is a number: node, and behind it the word in the node's index
 * table. Seeds are fixed, as every worker has to compute the same (the paper has CityHash with fixed seeds). Immutable.
 */
public final class NessieHash {
    /** Any odd numbers. */
    private static final long SEED = 0x9e37_79b9_7f4a_7c15L;

    private static final long NEXT_SEED = 0xd1b5_4a32_d192_ed03L;

    private final int ways;
    private final int logIndex;
    private final int slots;

    /** For a store of this shape. */
    public NessieHash(NessieShape shape) {
        ways = shape.ways();
        logIndex = shape.logIndex();
        slots = shape.nodes() << logIndex;
    }

    /** The hash of a key, from which the rest follows. */
    public static long of(MemorySegment memory, long key, int keyLength) {
        return SeededHash.of(memory, key, keyLength, SEED);
    }

    /**
     * The slots of a key, which are different ones.
     *
     * @param hash of the key
     * @param into by rank: 0 is looked at first
     */
    public void slots(long hash, int[] into) {
        for (int rank = 0; rank < ways; rank++) {
            int slot = (int) Math.unsignedMultiplyHigh(SeededHash.again(hash, NEXT_SEED * (rank + 1)), slots);
            while (contains(into, rank, slot)) {
                slot = (slot + 1) % slots;
            }
            into[rank] = slot;
        }
    }

    private static boolean contains(int[] slots, int count, int slot) {
        for (int i = 0; i < count; i++) {
            if (slots[i] == slot) {
                return true;
            }
        }
        return false;
    }

    /** The node of a slot. */
    public int node(int slot) {
        return slot >>> logIndex;
    }

    /** The word of a slot in its node's index table. */
    public int word(int slot) {
        return slot & (1 << logIndex) - 1;
    }
}
