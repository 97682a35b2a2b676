package org.softrdma.stores.pilaf;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Protocol;

/**
 * A race.
 *
 * @param seed decides what happens
 * @param protocol of the clients
 * @param forgiving true if a miss says nothing
 * @param byMessages Pilaf-VO
 * @param faulty true if things go wrong
 * @param crashes how often the server crashes and starts again
 * @param logs directory of a log that survives crashes; null for a server without
 */
record PilafRaceSettings(
        long seed,
        Protocol protocol,
        boolean forgiving,
        boolean byMessages,
        boolean faulty,
        int crashes,
        @Nullable Path logs) {
    /** Nothing goes wrong. Every fourth race is of Pilaf-VO. */
    static PilafRaceSettings calm(long seed) {
        return new PilafRaceSettings(seed, Protocol.SAFE, false, seed % 4 == 3, false, 0, null);
    }

    /** As published. */
    static PilafRaceSettings paper(long seed) {
        return new PilafRaceSettings(seed, Protocol.PAPER, false, false, false, 0, null);
    }

    /** As published, but for what the published GET misses. */
    static PilafRaceSettings forgiving(long seed) {
        return new PilafRaceSettings(seed, Protocol.PAPER, true, false, false, 0, null);
    }

    /** Clients die, connections break. */
    static PilafRaceSettings faulty(long seed) {
        return new PilafRaceSettings(seed, Protocol.SAFE, false, seed % 4 == 3, true, 0, null);
    }

    /** The server crashes, and what it has acknowledged must be there again. */
    static PilafRaceSettings crashing(long seed, Path logs) {
        return new PilafRaceSettings(seed, Protocol.SAFE, false, seed % 4 == 3, false, 2, logs);
    }

    /** The same settings where nothing is logged: the server begins again with nothing. */
    static PilafRaceSettings forgetting(long seed) {
        return new PilafRaceSettings(seed, Protocol.SAFE, false, seed % 4 == 3, false, 2, null);
    }

    /** True if one key stays, and the others make it move. */
    boolean moving() {
        return (seed & 2) == 0;
    }

    /** True if an operation may have no answer. */
    boolean mayLoseAnswers() {
        return faulty || crashes > 0;
    }
}
