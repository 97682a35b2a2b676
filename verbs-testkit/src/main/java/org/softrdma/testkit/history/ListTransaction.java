package org.softrdma.testkit.history;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One transaction of a history in which every object is a list of numbers, and a transaction reads lists and appends to
 * them. A number is appended once in a run, so a list that was read names the transactions that wrote it.
 *
 * @param process who did it, for people
 * @param invoked when it began; a time of any one clock
 * @param returned when it was answered; {@link Operation#NEVER} if it was not
 * @param outcome what was answered
 * @param reads the list of each key that it read, as it was before the transaction's own appends
 * @param appends the number that it appends to each key
 */
public record ListTransaction(
        String process,
        long invoked,
        long returned,
        Outcome outcome,
        Map<String, List<Long>> reads,
        Map<String, Long> appends) {
    /** What the application was told. */
    public enum Outcome {
        /** It took effect. */
        COMMITTED,
        /** It did not, and never will. */
        ABORTED,
        /** It may have, and may yet. */
        UNKNOWN
    }

    /** Checks and copies. */
    public ListTransaction {
        if (returned < invoked) {
            throw new IllegalArgumentException(
                    "returned at " + returned + ", before it was invoked at " + invoked + ": give times of one clock");
        }
        if (outcome != Outcome.UNKNOWN && returned == Operation.NEVER) {
            throw new IllegalArgumentException(outcome + ", but it never returned: expected UNKNOWN");
        }
        reads = Map.copyOf(reads);
        appends = Map.copyOf(appends);
    }

    /** Its reads and appends in words, in the order of the keys. */
    String words() {
        StringBuilder text = new StringBuilder();
        new TreeMap<>(reads)
                .forEach((key, list) ->
                        text.append(" r(").append(key).append(')').append(list));
        new TreeMap<>(appends)
                .forEach((key, value) ->
                        text.append(" a(").append(key).append(") ").append(value));
        return text.toString().strip();
    }

    @Override
    public String toString() {
        return process + ": " + words() + " " + outcome + " [" + invoked + ", "
                + (returned == Operation.NEVER ? "never" : returned) + "]";
    }
}
