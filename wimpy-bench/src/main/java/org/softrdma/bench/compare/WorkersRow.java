package org.softrdma.bench.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What was found of a design beside CPU workers on its server's core, as results.json has it. What could not be measured is
 * absent from its map.
 *
 * @param system name of the design
 * @param workers processes that hash on the server's core
 * @param raised true if the threads of the server's RNIC came before them: nice {@link WorkersBlock#RAISED}
 * @param valueBytes of every value
 * @param window operations outstanding on each connection
 * @param mix letter of YCSB's mix
 * @param operations that did what they were asked for, in all rounds
 * @param values medians over the rounds, by the names of {@link CompareRow}
 * @param rounds the values of each round
 * @param errors what went wrong, and how often
 */
public record WorkersRow(
        String system,
        int workers,
        boolean raised,
        int valueBytes,
        int window,
        String mix,
        long operations,
        Map<String, Double> values,
        List<Map<String, Double>> rounds,
        Map<String, Long> errors) {
    /** Copies the collections. */
    public WorkersRow {
        values = new LinkedHashMap<>(values);
        rounds = List.copyOf(rounds);
        errors = new LinkedHashMap<>(errors);
    }

    /** Operations per second; NaN if that was not measured. */
    public double perSecond() {
        return values.getOrDefault(CompareRow.PER_SECOND, Double.NaN);
    }

    /** Operations that went wrong. */
    long failures() {
        return errors.values().stream().mapToLong(Long::longValue).sum();
    }
}
