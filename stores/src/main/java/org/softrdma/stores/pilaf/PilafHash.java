package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.softrdma.stores.hash.SeededHash;

/** Where the pair of a key may be: three entries of a table, in the order in which clients look. Immutable. */
final class PilafHash {
    /** Candidates of a key. */
    static final int WAYS = 3;

    static final int MOST_LOG_ENTRIES = 24;

    /** Of the fingerprint: any odd number. */
    private static final long FINGERPRINT_SEED = 0x9e37_79b9_7f4a_7c15L;

    private final int logEntries;
    private final int mask;
    private final long[] seeds;

    PilafHash(int logEntries, long[] seeds) {
        if (logEntries < 0 || logEntries > MOST_LOG_ENTRIES || seeds.length != WAYS) {
            throw new IllegalArgumentException("logEntries=" + logEntries + ", " + seeds.length
                    + " seeds: expected 0 to " + MOST_LOG_ENTRIES + ", " + WAYS);
        }
        this.logEntries = logEntries;
        mask = (1 << logEntries) - 1;
        this.seeds = seeds.clone();
    }

    /** For a table of 2^logEntries entries. */
    static PilafHash random(int logEntries, RandomGenerator random) {
        long[] seeds = new long[WAYS];
        Arrays.setAll(seeds, i -> random.nextLong());
        return new PilafHash(logEntries, seeds);
    }

    int logEntries() {
        return logEntries;
    }

    int entries() {
        return mask + 1;
    }

    long seed(int i) {
        return seeds[i];
    }

    /** The hash of a key, from which the rest follows. */
    long of(MemorySegment memory, long key, int keyLength) {
        return SeededHash.of(memory, key, keyLength, seeds[0]);
    }

    /**
     * An entry where the pair may be.
     *
     * @param hash of the key
     * @param rank 0 is looked at first
     */
    int candidate(long hash, int rank) {
        return (int) (rank == 0 ? hash : SeededHash.again(hash, seeds[rank])) & mask;
    }

    /** 16 bits that tell most keys apart which share an entry. */
    static int fingerprint(long hash) {
        return (int) (SeededHash.again(hash, FINGERPRINT_SEED) >>> (Long.SIZE - Short.SIZE));
    }
}
