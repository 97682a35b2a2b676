package org.softrdma.sim.samehost;

import org.softrdma.sim.memory.KeyScrambler;
import org.softrdma.sim.memory.NearMemory;
import org.softrdma.sim.memory.RecentKeys;

/** From the rkeys of a peer to rows of its table. Threads: each reader as {@link NearMemory.Reader} says; others any. */
final class PeerKeys {
    private final KeyScrambler keys;
    private final RecentKeys posting;
    private final RecentKeys engine;

    PeerKeys(KeyScrambler keys) {
        this.keys = keys;
        posting = new RecentKeys(keys);
        engine = new RecentKeys(keys);
    }

    /** The number that a key encodes. */
    int number(int rkey) {
        return keys.unscramble(rkey);
    }

    /** The same, for a reader that may have asked for this key the last time. */
    int number(NearMemory.Reader reader, int rkey) {
        return (reader == NearMemory.Reader.POSTING ? posting : engine).number(rkey);
    }
}
