package org.softrdma.stores.herd;

/**
 * A race.
 *
 * @param seed decides what happens
 * @param faulty true if things go wrong
 * @param crashes how often the server crashes and starts again, with nothing
 * @param nessieSd true for NessieSD, false for HERD
 * @param datagrams true for HERD over unreliable transports, and a network that loses, doubles and reorders
 */
record HerdRaceSettings(long seed, boolean faulty, int crashes, boolean nessieSd, boolean datagrams) {
    /** Nothing goes wrong, but requests are written again early. */
    static HerdRaceSettings calm(long seed) {
        return new HerdRaceSettings(seed, false, 0, false, false);
    }

    /** Clients die, connections break, messages are late. */
    static HerdRaceSettings faulty(long seed) {
        return new HerdRaceSettings(seed, true, 0, false, false);
    }

    /** The server crashes in the middle of requests. */
    static HerdRaceSettings crashing(long seed) {
        return new HerdRaceSettings(seed, false, 2, false, false);
    }

    /** The same for NessieSD. */
    HerdRaceSettings ofNessieSd() {
        return new HerdRaceSettings(seed, faulty, crashes, true, false);
    }

    /** The same over unreliable transports. */
    HerdRaceSettings ofDatagrams() {
        return new HerdRaceSettings(seed, faulty, crashes, false, true);
    }

    /** True if the device keeps the order of what it writes into slots. */
    boolean polled() {
        return seed % 3 != 0;
    }

    /**
     * True if each worker has a thread of its own. Not where they share a queue pair: one thread of a fabric would wait for
     * another that copies in small pieces and has let others run.
     */
    boolean threads() {
        return datagrams && seed % 8 >= 4;
    }

    /** Microseconds until a request is written again: shorter and longer than an answer takes. */
    int retryUs() {
        return 40 << (int) Math.floorMod(seed, 5L);
    }

    /** True if an operation may have no answer. */
    boolean mayLoseAnswers() {
        return faulty || crashes > 0;
    }
}
