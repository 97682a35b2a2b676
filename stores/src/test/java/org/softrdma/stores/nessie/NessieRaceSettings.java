package org.softrdma.stores.nessie;

import java.util.Map;
import org.softrdma.stores.Protocol;

/**
 * A race.
 *
 * @param seed decides what happens
 * @param protocol of all
 * @param faulty true if things go wrong
 * @param crashes how often the only node crashes and starts again
 */
record NessieRaceSettings(long seed, Protocol protocol, boolean faulty, int crashes) {
    private static final String[] PATIENCE_MS = {"0", "1", "20"};

    /** Nothing goes wrong. */
    static NessieRaceSettings calm(long seed) {
        return new NessieRaceSettings(seed, Protocol.SAFE, false, 0);
    }

    /** Clients and nodes die and pause, connections break. */
    static NessieRaceSettings faulty(long seed) {
        return new NessieRaceSettings(seed, Protocol.SAFE, true, 0);
    }

    /** The only node crashes, and begins again with nothing. */
    static NessieRaceSettings crashing(long seed) {
        return new NessieRaceSettings(seed, Protocol.SAFE, false, 2);
    }

    /** As published. */
    static NessieRaceSettings paper(long seed) {
        return new NessieRaceSettings(seed, Protocol.PAPER, false, 0);
    }

    /** Nodes of the store: the READs of one look reach several at several times. */
    int nodes() {
        if (crashes > 0) {
            return 1;
        }
        return moving() ? 2 - (int) (seed / 4 % 4 / 3) : 1 + (int) (seed % 3);
    }

    /** Eight slots or twelve, for seven keys, so that keys move; few entries, so that they are used again soon. */
    Map<String, String> serverOptions() {
        return Map.of(
                "index", nodes() == 1 ? "3" : "2",
                "entries", "6",
                "filter", seed % 5 == 0 ? "0" : "2",
                "reuse-ms", protocol == Protocol.PAPER ? "1000" : "0");
    }

    /** The n-th client puts into its own home. */
    Map<String, String> clientOptions(int client) {
        return Map.of(
                "home",
                Integer.toString(client % nodes()),
                "stock",
                "3",
                "cache",
                seed % 4 == 0 ? "0" : "8",
                "patience-ms",
                PATIENCE_MS[(int) (seed / 3 % PATIENCE_MS.length)]);
    }

    /** True if one key stays, and the others make it move. */
    boolean moving() {
        return (seed & 2) == 0;
    }

    /** True if an operation may have no answer. */
    boolean mayLoseAnswers() {
        return faulty || crashes > 0 || protocol == Protocol.PAPER;
    }
}
