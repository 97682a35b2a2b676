package org.softrdma.stores.herd;

import java.util.BitSet;

/** Numbers of the values of a race, and which of them died with a server. Whoever holds the baton. */
final class HerdRaceValues {
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

    /** A change is answered; a removal has no value: 0. */
    void answer(int number) {
        answered++;
        stored.set(number);
    }

    long asked() {
        return asked;
    }

    long answered() {
        return answered;
    }

    /** The server has died, and with it all values that it had acknowledged. */
    void crashed() {
        dead = (BitSet) stored.clone();
    }

    /** Values that nobody may see who asks from now on. */
    BitSet dead() {
        return dead;
    }
}
