package org.softrdma.sim.memory;

/**
 * The number that a key encodes, remembered for the key that was asked last. Whoever uses one region again and again does not
 * unscramble its key again, which takes half as long as copying a kilobyte. Which number a key encodes never changes; whether
 * the row of that number still has the key, the caller looks up each time. One thread at a time.
 */
public final class RecentKey {
    private final KeyScrambler keys;
    private int key;
    private int number;

    /**
     * Nothing asked yet.
     *
     * @param keys from numbers to keys
     */
    public RecentKey(KeyScrambler keys) {
        this.keys = keys;
        number = keys.unscramble(key);
    }

    /** The number that a key encodes. */
    public int number(int asked) {
        if (asked != key) {
            number = keys.unscramble(asked);
            key = asked;
        }
        return number;
    }
}
