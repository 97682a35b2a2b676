package org.softrdma.bench.pinning;

import java.util.List;
import org.softrdma.bench.study.Cores;

/**
 * What the study of pinning measures.
 *
 * @param scenario the command line
 * @param registrationBytes sizes of regions whose registration is timed
 * @param mostEagerBytes EAGER registration is timed up to here, because it reads and locks all of it
 * @param touches granules that are touched first in a round
 * @param pairs items of the servers
 * @param valueLength bytes of a value
 * @param budgetPercents budgets, in percent of the items' memory
 * @param clients connections of the load
 * @param window GETs outstanding on each
 * @param confinedPairs items of the servers whose memory is confined
 * @param confinedValueLength bytes of their values
 * @param confinedBytes memory that a confined server may use, its program included
 * @param warmUpNs before the rounds
 * @param roundNs length of a round
 * @param rounds how many
 * @param cores for servers and load
 */
public record PinningPlan(
        String scenario,
        List<Long> registrationBytes,
        long mostEagerBytes,
        int touches,
        int pairs,
        int valueLength,
        List<Integer> budgetPercents,
        int clients,
        int window,
        int confinedPairs,
        int confinedValueLength,
        long confinedBytes,
        long warmUpNs,
        long roundNs,
        int rounds,
        Cores cores) {
    /** Copies and checks. */
    public PinningPlan {
        registrationBytes = List.copyOf(registrationBytes);
        budgetPercents = List.copyOf(budgetPercents);
        if (rounds < 1 || pairs < 2 || touches < 1) {
            throw new IllegalArgumentException(
                    "rounds=" + rounds + " pairs=" + pairs + " touches=" + touches + ": expected at least 1, 2 and 1");
        }
    }
}
