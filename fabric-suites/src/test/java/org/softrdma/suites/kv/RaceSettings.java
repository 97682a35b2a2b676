package org.softrdma.suites.kv;

import org.softrdma.kv.server.ItemSettings.Registration;

/**
 * A race.
 *
 * @param seed decides what happens
 * @param registration of the items
 * @param losing true for a store without memory for all items, which expire too
 * @param faulty true if things go wrong: see {@link RaceFaults}
 */
record RaceSettings(long seed, Registration registration, boolean losing, boolean faulty) {
    /** The seed decides the registration too, and whether the store loses items. */
    static RaceSettings of(long seed, boolean faulty) {
        return new RaceSettings(
                seed, (seed & 1) == 0 ? Registration.ARENA : Registration.CHUNK, (seed & 2) != 0, faulty);
    }
}
