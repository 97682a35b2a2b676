package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Finds the short contradiction in a key that is not linearizable, by forgetting returns of operations. That makes more
 * orders possible, never fewer: what is contradictory afterwards was so before.
 *
 * <ol>
 *   <li>The shortest prefix by time that is contradictory; what had not returned by then is forgotten.
 *   <li>Of that all is forgotten but the last return. As long as there is an order, one operation that the order wrongs is
 *       remembered again.
 *   <li>Of those remembered as many are forgotten as can be, until each that is left is needed.
 * </ol>
 *
 * <p> When its searches have cost too much it takes what it has: still a contradiction,
 * perhaps not the shortest. Single thread, for one key.
 */
final class ContradictionFinder<S, I, O> {
    /** Configurations and steps that all searches together may take. */
    private static final long MOST_COST = 5_000_000;

    /** Configurations that one search may enter to find operations that are enough. */
    private static final long MOST_STATES = 100_000;

    /** Operations that are named beside a contradiction. */
    private static final int MOST_BESIDE = 4;

    private final Model<S, I, O> model;
    private final long maxStates;
    private long cost;
    private boolean gaveUp;

    ContradictionFinder(Model<S, I, O> model, long maxStates) {
        this.model = model;
        this.maxStates = maxStates;
    }

    /**
     * Shortens.
     *
     * @param operations of one key, not linearizable
     */
    Contradiction<I, O> shorten(List<Operation<I, O>> operations) {
        List<Operation<I, O>> sorted = operations.stream()
                .sorted(Comparator.comparingLong(Operation::invoked))
                .toList();
        List<Operation<I, O>> prefix = shortestPrefix(sorted);
        BitSet enough = enough(prefix);
        List<Operation<I, O>> oldFirst = needed(prefix, enough, false);
        List<Operation<I, O>> newFirst = needed(prefix, enough, true);
        List<Operation<I, O>> shortest = oldFirst.size() < newFirst.size() ? oldFirst : newFirst;
        List<Operation<I, O>> beside = beside(sorted, shortest);
        return new Contradiction<>(
                sorted.getFirst().key(),
                shortest,
                beside,
                !gaveUp,
                operations.size() - shortest.size() - beside.size());
    }

    private OrderSearch.Outcome run(OrderSearch search) {
        if (cost > MOST_COST) {
            gaveUp = true;
            return OrderSearch.Outcome.UNDECIDED;
        }
        OrderSearch.Outcome outcome = search.run();
        cost += search.cost();
        gaveUp |= outcome == OrderSearch.Outcome.UNDECIDED;
        return outcome;
    }

    /** Undecided counts as explained: only what is proven is shown. */
    private boolean isContradictory(List<Operation<I, O>> operations) {
        return run(new OrderSearch(new NumberedOperations<>(model, operations), maxStates))
                == OrderSearch.Outcome.CONTRADICTORY;
    }

    private List<Operation<I, O>> shortestPrefix(List<Operation<I, O>> operations) {
        long[] returns = operations.stream()
                .filter(Operation::isKnown)
                .mapToLong(Operation::returned)
                .sorted()
                .distinct()
                .toArray();
        int low = 0;
        int high = returns.length - 1; // the whole history, which is contradictory
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (isContradictory(prefix(operations, returns[middle]))) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return prefix(operations, returns[high]);
    }

    private static <I, O> List<Operation<I, O>> prefix(List<Operation<I, O>> operations, long end) {
        return operations.stream()
                .filter(operation -> operation.invoked() <= end)
                .map(operation -> operation.returned() <= end ? operation : operation.forgotten())
                .toList();
    }

    /** Operations whose returns are a contradiction, not all of them needed. */
    private BitSet enough(List<Operation<I, O>> operations) {
        BitSet known = new BitSet();
        int last = -1;
        for (int i = 0; i < operations.size(); i++) {
            Operation<I, O> operation = operations.get(i);
            known.set(i, operation.isKnown());
            boolean later =
                    last < 0 || operation.returned() >= operations.get(last).returned();
            last = operation.isKnown() && later ? i : last;
        }
        BitSet kept = new BitSet();
        kept.set(last);
        while (true) {
            List<Operation<I, O>> relaxed = only(operations, kept);
            NumberedOperations<S, I, O> numbered = new NumberedOperations<>(model, relaxed);
            OrderSearch search = new OrderSearch(numbered, Math.min(maxStates, MOST_STATES));
            OrderSearch.Outcome outcome = run(search);
            if (outcome != OrderSearch.Outcome.LINEARIZABLE) {
                return outcome == OrderSearch.Outcome.CONTRADICTORY ? kept : known;
            }
            kept.set(new WrongedOperations<>(model, operations, relaxed, numbered, search.order()).pick());
        }
    }

    /** Those whose returns cannot be forgotten; which ones they are depends on who is tried first. */
    private List<Operation<I, O>> needed(List<Operation<I, O>> operations, BitSet enough, boolean newFirst) {
        BitSet kept = (BitSet) enough.clone();
        for (int share = Integer.highestOneBit(kept.cardinality()); share >= 1; share /= 2) {
            boolean forgot = true;
            while (forgot) {
                forgot = forgetShares(operations, kept, share, newFirst) && share == 1;
            }
        }
        return kept.stream().mapToObj(operations::get).toList();
    }

    private boolean forgetShares(List<Operation<I, O>> operations, BitSet kept, int share, boolean newFirst) {
        int[] order = kept.stream().toArray();
        boolean forgot = false;
        for (int from = 0; from < order.length; from += share) {
            BitSet fewer = (BitSet) kept.clone();
            for (int i = from; i < Math.min(order.length, from + share); i++) {
                fewer.clear(order[newFirst ? order.length - 1 - i : i]);
            }
            if (isContradictory(only(operations, fewer))) {
                kept.and(fewer);
                forgot = true;
            }
        }
        return forgot;
    }

    private static <I, O> List<Operation<I, O>> only(List<Operation<I, O>> operations, BitSet kept) {
        List<Operation<I, O>> result = new ArrayList<>();
        for (int i = 0; i < operations.size(); i++) {
            result.add(kept.get(i) ? operations.get(i) : operations.get(i).forgotten());
        }
        return result;
    }

    private List<Operation<I, O>> beside(List<Operation<I, O>> all, List<Operation<I, O>> contradicting) {
        List<S> needs = contradicting.stream().flatMap(this::needs).distinct().toList();
        return all.stream()
                .filter(operation -> !contradicting.contains(operation))
                .filter(operation -> {
                    S made = model.effect(operation.input(), operation.output()).makes();
                    return made != null && needs.contains(made);
                })
                .limit(MOST_BESIDE)
                .toList();
    }

    private Stream<S> needs(Operation<I, O> operation) {
        S needed = model.effect(operation.input(), operation.output()).needs();
        return needed == null ? Stream.empty() : Stream.of(needed);
    }
}
