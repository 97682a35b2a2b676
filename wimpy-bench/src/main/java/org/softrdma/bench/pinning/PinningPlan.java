package org.softrdma.bench.pinning;

import java.util.List;
import org.softrdma.bench.study.Cores;

/**
 * What the study of pinning measures.
 *
 * @param scenario the command line
 * @param registration regions whose registration is timed
 * @param touches granules that are touched first in a round
 * @param items items of the servers
 * @param budgetPercents budgets, in percent of the items' memory
 * @param load connections of the load
 * @param confined servers whose memory is confined
 * @param timing rounds and their lengths
 * @param cores for servers and load
 */
public record PinningPlan(
        String scenario,
        Registration registration,
        int touches,
        Items items,
        List<Integer> budgetPercents,
        Load load,
        Confined confined,
        Timing timing,
        Cores cores) {
    /** Copies and checks. */
    public PinningPlan {
        budgetPercents = List.copyOf(budgetPercents);
        if (timing.rounds() < 1 || items.pairs() < 2 || touches < 1) {
            throw new IllegalArgumentException("rounds=" + timing.rounds() + " pairs=" + items.pairs() + " touches="
                    + touches + ": expected at least 1, 2 and 1");
        }
    }

    /**
     * Regions whose registration is timed.
     *
     * @param bytes their sizes
     * @param mostEagerBytes EAGER registration is timed up to here, because it reads and locks all of it
     */
    public record Registration(List<Long> bytes, long mostEagerBytes) {
        /** Copies the list. */
        public Registration {
            bytes = List.copyOf(bytes);
        }
    }

    /**
     * Items of a server.
     *
     * @param pairs how many
     * @param valueLength bytes of a value
     */
    public record Items(int pairs, int valueLength) {}

    /**
     * A load.
     *
     * @param clients its connections
     * @param window GETs outstanding on each
     */
    public record Load(int clients, int window) {}

    /**
     * Servers whose memory is confined.
     *
     * @param items of each
     * @param bytes memory that one may use, its program included
     */
    public record Confined(Items items, long bytes) {}

    /**
     * Rounds and their lengths.
     *
     * @param warmUpNs before the rounds
     * @param roundNs length of a round
     * @param rounds how many
     */
    public record Timing(long warmUpNs, long roundNs, int rounds) {}
}
