package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Operations of one key that no order explains, even if each other operation of the key took effect at whatever time
 * after its invocation, or never. If it is minimal each of them is needed: had nobody seen its return, there would be an
 * order.
 *
 * <p>Operations are forgotten, not removed, to get here. Had a write been removed whose value a read returned, there would
 * be a contradiction that the history does not have.
 *
 * @param operations those that contradict each other, by invocation
 * @param beside other operations that make a state which one of them needs, by invocation: those that do not help although
 *     one may expect it; at most a few
 * @param minimal true if each is needed; false if the search for fewer was given up
 * @param others how many other operations the key has beside these
 * @param <I> type of inputs
 * @param <O> type of outputs
 */
public record Contradiction<I, O>(
        String key, List<Operation<I, O>> operations, List<Operation<I, O>> beside, boolean minimal, int others) {
    private static final int MOST_DRAWN = 40;

    /** Copies the lists. */
    public Contradiction {
        operations = List.copyOf(operations);
        beside = List.copyOf(beside);
    }

    /** How many operations contradict each other. */
    public int length() {
        return operations.size();
    }

    /** The operations with their times, drawn for a terminal; the latest, if there are many. */
    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        lines.add("key " + key + ": no order explains "
                + (length() == 1 ? "this operation" : "these " + length() + " operations")
                + (minimal ? "" : "; the search for fewer was given up"));
        TimeDiagram diagram = new TimeDiagram();
        Stream.concat(operations.stream(), beside.stream())
                .sorted(Comparator.comparingLong(Operation::invoked))
                .skip(Math.max(0, length() - MOST_DRAWN))
                .forEach(operation -> diagram.add(operation, operations.contains(operation) ? "" : "does not help"));
        lines.addAll(diagram.lines());
        if (others > 0) {
            lines.add("The key has " + others + " more: none helps, whenever it took effect after its invocation.");
        }
        return String.join("\n", lines);
    }
}
