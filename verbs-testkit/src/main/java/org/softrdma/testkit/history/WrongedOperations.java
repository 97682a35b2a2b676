package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;

/**
 * Operations whose returns have been forgotten, and that are wronged by an order which was found without them: they take
 * effect after they returned, or with another output, or nowhere although they cannot have gone unseen. Single thread, for
 * one order.
 */
final class WrongedOperations<S, I, O> {
    private final Model<S, I, O> model;
    private final List<Operation<I, O>> operations;
    private final List<Operation<I, O>> relaxed;

    /** What the order says: the state from each instant on. Before the first there is the initial state. */
    private final List<S> states = new ArrayList<>();

    private final List<Long> instants = new ArrayList<>();
    private final IdentityHashMap<Operation<I, O>, Integer> turns = new IdentityHashMap<>();

    /**
     * An order.
     *
     * @param operations of one key
     * @param relaxed the same, some of them forgotten
     * @param numbered those, by the numbers that the order has
     * @param order entries, one after the other
     */
    WrongedOperations(
            Model<S, I, O> model,
            List<Operation<I, O>> operations,
            List<Operation<I, O>> relaxed,
            NumberedOperations<S, I, O> numbered,
            int[] order) {
        this.model = model;
        this.operations = operations;
        this.relaxed = relaxed;
        states.add(model.initial());
        instants.add(Long.MIN_VALUE);
        int[] used = new int[numbered.entries()];
        for (int entry : order) {
            Operation<I, O> next = numbered.operation(entry, used[entry]++);
            turns.put(next, states.size());
            instants.add(Math.max(instants.getLast(), next.invoked()));
            states.add(step(states.getLast(), next).orElseThrow());
        }
    }

    private Optional<S> step(S state, Operation<I, O> operation) {
        return model.step(state, operation.input(), operation.output());
    }

    /**
     * The number of the one that most likely is part of a contradiction: the last to return of those that take effect too
     * late, or else of all.
     */
    int pick() {
        int late = -1;
        int wronged = -1;
        int forgotten = -1;
        for (int i = 0; i < operations.size(); i++) {
            if (operations.get(i).isKnown() && !relaxed.get(i).isKnown()) {
                Integer turn = turns.get(relaxed.get(i));
                forgotten = later(forgotten, i);
                if (turn != null && instants.get(turn) > operations.get(i).returned()) {
                    late = later(late, i);
                } else if (turn == null ? !hasPlace(operations.get(i)) : !isRight(operations.get(i), turn)) {
                    wronged = later(wronged, i);
                }
            }
        }
        if (late >= 0) {
            return late;
        }
        return wronged >= 0 ? wronged : forgotten;
    }

    private int later(int one, int other) {
        return one < 0
                        || operations.get(other).returned()
                                >= operations.get(one).returned()
                ? other
                : one;
    }

    private boolean isRight(Operation<I, O> operation, int turn) {
        return step(states.get(turn - 1), operation).equals(Optional.of(states.get(turn)));
    }

    /** True if it could take effect at some time without a change of the order. */
    private boolean hasPlace(Operation<I, O> operation) {
        for (int i = 0; i < states.size(); i++) {
            boolean ends = i + 1 < states.size() && instants.get(i + 1) < operation.invoked();
            boolean begins = instants.get(i) <= operation.returned();
            if (!ends && begins && step(states.get(i), operation).equals(Optional.of(states.get(i)))) {
                return true;
            }
        }
        return false;
    }
}
