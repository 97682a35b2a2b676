package org.softrdma.stores.race;

import java.util.BitSet;

/**
 * Numbers of the values of a race, which of them died with a server, and how many changes there were. The running thread.
 */
public final class RaceValues {
    private final BitSet stored = new BitSet();
    private BitSet dead = new BitSet();
    private int lastNumber;
    private long asked;
    private long answered;

    /** The number of a value that nobody has written yet. */
    int next() {
        return ++lastNumber;
    }

    /** A change is asked for. */
    void ask() {
        asked++;
    }

    /** A change is answered. */
    void answer() {
        answered++;
    }

    /** A value was acknowledged. */
    void stored(int number) {
        stored.set(number);
    }

    /** Changes that were asked for. */
    public long asked() {
        return asked;
    }

    /** Changes that were answered. */
    public long answered() {
        return answered;
    }

    /** The server has died, and with it all values that it had acknowledged. */
    public void died() {
        dead = (BitSet) stored.clone();
    }

    /** Values that nobody may see who asks from now on. */
    BitSet dead() {
        return dead;
    }
}
