package org.softrdma.testkit.history;

import java.util.List;
import java.util.Optional;

/**
 * What a check found.
 *
 * @param operations how many there were
 * @param keys how many there were
 * @param states configurations that the searches entered: about one per operation where there was little to choose
 * @param maxStates how many each key was allowed beyond one per operation
 * @param contradiction the shortest one, of the contradictory keys that were looked at
 * @param contradictory keys that are not linearizable
 * @param undecided keys whose search was given up
 * @param <I> type of inputs
 * @param <O> type of outputs
 */
public record HistoryVerdict<I, O>(
        int operations,
        int keys,
        long states,
        long maxStates,
        Optional<Contradiction<I, O>> contradiction,
        List<String> contradictory,
        List<String> undecided) {
    private static final int MOST_NAMED = 5;

    /** Copies the lists. */
    public HistoryVerdict {
        contradictory = List.copyOf(contradictory);
        undecided = List.copyOf(undecided);
    }

    /** True if every key is linearizable, none undecided. */
    public boolean isLinearizable() {
        return contradictory.isEmpty() && undecided.isEmpty();
    }

    /**
     * Fails unless every key is linearizable.
     *
     * @throws AssertionError with the shortest contradiction, or with the keys that are undecided
     */
    public void requireLinearizable() {
        if (!isLinearizable()) {
            throw new AssertionError(toString());
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(
                "history of " + operations + " operations, " + keys + (keys == 1 ? " key: " : " keys: "));
        if (isLinearizable()) {
            return text.append("linearizable").toString();
        }
        if (!contradictory.isEmpty()) {
            text.append("not linearizable, ").append(named(contradictory));
        }
        if (!undecided.isEmpty()) {
            text.append(contradictory.isEmpty() ? "" : "; ")
                    .append("undecided within ")
                    .append(maxStates)
                    .append(" states, ")
                    .append(named(undecided))
                    .append(": allow more states, or let fewer operations run at a time");
        }
        contradiction.ifPresent(found -> text.append('\n').append(found));
        return text.toString();
    }

    private static String named(List<String> keys) {
        return (keys.size() == 1 ? "key " : keys.size() + " keys, ")
                + String.join(", ", keys.subList(0, Math.min(MOST_NAMED, keys.size())))
                + (keys.size() > MOST_NAMED ? ", ..." : "");
    }
}
