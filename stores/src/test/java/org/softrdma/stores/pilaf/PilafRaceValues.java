package org.softrdma.stores.pilaf;

import java.util.BitSet;

/** Numbers of the values of a race, and which of them died with a server. Whoever holds the baton. */
final class PilafRaceValues {
    private int lastNumber;
    private final BitSet stored = new BitSet();
    private BitSet dead = new BitSet();

    /** The number of a value that nobody has written yet. */
    int next() {
        return ++lastNumber;
    }

    /** A value was acknowledged. */
    void stored(int number) {
        stored.set(number);
    }

    /** The server has died, and with it all values that it had acknowledged, if it forgets. */
    void crashed(boolean forgets) {
        if (forgets) {
            dead = (BitSet) stored.clone();
        }
    }

    /** Values that nobody may see who asks from now on. */
    BitSet dead() {
        return dead;
    }
}
