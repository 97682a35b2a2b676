package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks that a history is linearizable: that the operations of each key could have taken effect one after the other, each
 * at an instant between its invocation and its return, with the outputs that were seen. Keys are checked one by one, since
 * a history is linearizable if each key's is (Herlihy and Wing 1990).
 *
 * <pre>{@code
 * new HistoryChecker<>(StoreModel.keeping()).check(recorder.operations()).requireLinearizable();
 * }</pre>
 *
 * <p>The problem is NP-complete (Gibbons and Korach 1997), so a key whose search enters too many configurations is
 * undecided, which is no success. Histories in which each write has a value of its own are far from that: they take
 * time in proportion to their length and to the operations that run at a time. Keeps nothing between two checks; any
 * thread.
 *
 * @param <S> type of the model's states
 * @param <I> type of inputs
 * @param <O> type of outputs
 */
public final class HistoryChecker<S, I, O> {
    /** Configurations of one key that are entered beyond one per operation, unless told otherwise. */
    public static final long DEFAULT_MAX_STATES = 1_000_000;

    /** Contradictory keys that are looked at for the shortest contradiction; shortening one takes many searches. */
    private static final int MOST_SHORTENED = 4;

    private final Model<S, I, O> model;
    private final long maxStates;

    /**
     * A checker with the default limit.
     *
     * @param model what operations do
     */
    public HistoryChecker(Model<S, I, O> model) {
        this(model, DEFAULT_MAX_STATES);
    }

    /**
     * A checker.
     *
     * @param model what operations do
     * @param maxStates configurations of one key that may be entered beyond one per operation; each that offers a choice
     *     takes 200 bytes or so
     */
    public HistoryChecker(Model<S, I, O> model, long maxStates) {
        if (maxStates < 1) {
            throw new IllegalArgumentException("maxStates=" + maxStates + ", expected at least 1");
        }
        this.model = model;
        this.maxStates = maxStates;
    }

    /**
     * Checks a history.
     *
     * @param operations of any keys, in any order
     */
    public HistoryVerdict<I, O> check(Iterable<Operation<I, O>> operations) {
        Map<String, List<Operation<I, O>>> byKey = new LinkedHashMap<>();
        for (Operation<I, O> operation : operations) {
            byKey.computeIfAbsent(operation.key(), key -> new ArrayList<>()).add(operation);
        }
        long states = 0;
        List<String> undecided = new ArrayList<>();
        Map<String, List<Operation<I, O>>> contradictory = new LinkedHashMap<>();
        for (Map.Entry<String, List<Operation<I, O>>> entry : byKey.entrySet()) {
            OrderSearch search = new OrderSearch(new NumberedOperations<>(model, entry.getValue()), maxStates);
            switch (search.run()) {
                case LINEARIZABLE -> {}
                case CONTRADICTORY -> contradictory.put(entry.getKey(), entry.getValue());
                case UNDECIDED -> undecided.add(entry.getKey());
            }
            states += search.entered();
        }
        Optional<Contradiction<I, O>> shortest = contradictory.values().stream()
                .limit(MOST_SHORTENED)
                .map(bad -> new ContradictionFinder<>(model, maxStates).shorten(bad))
                .min(Comparator.comparingInt(Contradiction::length));
        int count = byKey.values().stream().mapToInt(List::size).sum();
        return new HistoryVerdict<>(
                count, byKey.size(), states, maxStates, shortest, List.copyOf(contradictory.keySet()), undecided);
    }
}
