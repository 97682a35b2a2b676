package org.softrdma.sim.samehost;

import org.softrdma.sim.memory.KeyScrambler;
import org.softrdma.sim.memory.RecentKeys;

/** From the rkeys of a peer to rows of its table. Threads: each reader as {@link ReadingThread} says; others any. */
final class PeerKeys {
    /** Keys that each reader remembers: a store of a few hundred megabytes has as many arenas. */
    static final int REMEMBERED = 256;

    private final KeyScrambler keys;
    private final RecentKeys posting;
    private final RecentKeys engine;

    PeerKeys(KeyScrambler keys, int remembered) {
        this.keys = keys;
        posting = new RecentKeys(keys, remembered);
        engine = new RecentKeys(keys, remembered);
    }

    /** The number that a key encodes. */
    int number(int rkey) {
        return keys.unscramble(rkey);
    }

    /** The same, for a reader that may have asked for this key before. */
    int number(ReadingThread reader, int rkey) {
        return (reader == ReadingThread.POSTING ? posting : engine).number(rkey);
    }
}
