package org.softrdma.sim.memory;

/**
 * The numbers that keys encode, remembered for the keys that were asked for last. Whoever uses a few regions again and again
 * does not unscramble their keys again, which takes half as long as copying a kilobyte. A key has one place, and takes it from
 * the last one there. Which number a key encodes never changes; whether the row of that number still has the key, the caller
 * looks up each time. One thread at a time.
 */
public final class RecentKeys {
    private final KeyScrambler scrambler;
    private final int mask;
    private final int[] keys;
    private final int[] numbers;

    /**
     * Nothing asked yet.
     *
     * @param scrambler from numbers to keys
     * @param places how many keys there is room for, a power of two
     */
    public RecentKeys(KeyScrambler scrambler, int places) {
        this.scrambler = scrambler;
        mask = places - 1;
        keys = new int[places];
        numbers = new int[places];
        numbers[0] = scrambler.unscramble(0); // all places have key 0, which no other place is asked for
    }

    /** The number that a key encodes. */
    public int number(int asked) {
        int place = asked & mask;
        if (asked != keys[place]) {
            numbers[place] = scrambler.unscramble(asked);
            keys[place] = asked;
        }
        return numbers[place];
    }
}
