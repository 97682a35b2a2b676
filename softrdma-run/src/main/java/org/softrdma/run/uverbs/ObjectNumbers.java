package org.softrdma.run.uverbs;

/** Numbers of queue pairs and keys of memory: one after the other, for all contexts. */
final class ObjectNumbers {
    private static final int FIRST_PAIR = 17;
    private static final int PAIR_MASK = 0xFF_FFFF;
    private static final int KEY_STEP = 0x100;

    private int nextPair = FIRST_PAIR;
    private int nextKey = KEY_STEP;

    /** A queue pair's, 24 bits, never those of the management queue pairs. */
    int pair() {
        int number = nextPair;
        nextPair = nextPair == PAIR_MASK ? FIRST_PAIR : nextPair + 1;
        return number;
    }

    /** A region's. The last byte is the owner's to choose, for windows. */
    int key() {
        int key = nextKey;
        nextKey += KEY_STEP;
        return key;
    }
}
