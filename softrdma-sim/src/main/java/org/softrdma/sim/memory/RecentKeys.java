package org.softrdma.sim.memory;

import java.util.Arrays;

/**
 * The numbers that keys encode, remembered for the keys that were asked of late. Whoever uses a few regions again and again
 * does not unscramble their keys again, which takes half as long as copying a kilobyte. Which number a key encodes never
 * changes; whether the row of that number still has the key, the caller looks up each time. One thread at a time.
 */
public final class RecentKeys {
    /** A store of a few hundred megabytes has as many arenas. A key has one place, and takes it from the last one there. */
    private static final int PLACES = 256;

    private final KeyScrambler scrambler;
    private final int[] keys = new int[PLACES];
    private final int[] numbers = new int[PLACES];

    /**
     * Nothing asked yet.
     *
     * @param scrambler from numbers to keys
     */
    public RecentKeys(KeyScrambler scrambler) {
        this.scrambler = scrambler;
        Arrays.fill(numbers, scrambler.unscramble(0)); // all places have key 0
    }

    /** The number that a key encodes. */
    public int number(int asked) {
        int place = asked & (PLACES - 1);
        if (asked != keys[place]) {
            numbers[place] = scrambler.unscramble(asked);
            keys[place] = asked;
        }
        return numbers[place];
    }
}
