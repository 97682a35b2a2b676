package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which operations may take effect next, the most promising last. Leaves out what cannot lead to an order that another
 * step does not lead to as well:
 *
 * <ul>
 *   <li>A state that a known operation still needs, and that nobody can make again, is not left.
 *   <li>When nobody sees the present state, a write whose state nobody sees, or only reads that are pending now, is the
 *       only step: it costs nothing.
 *   <li>An unknown operation takes effect only for somebody who sees it: right before an operation that is not blind, and
 *       only if such a one is impossible otherwise, or leaves another state.
 * </ul>
 *
 * <p>Of a register whose writes are of different values these rules leave one step each time (they are the zones of
 * Gibbons and Korach 1997), so that its histories take linear time. Single thread.
 */
final class NextSteps {
    private final NumberedOperations<?, ?, ?> operations;
    private final PendingOperations pending;
    private final RemainingOperations remaining;
    private final long[] deadlines;
    private final List<IntStack> unknownMakers = new ArrayList<>();
    private final IntStack neededByUnknown = new IntStack();
    private final IntStack wildUnknown = new IntStack();
    private final IntStack candidates = new IntStack();
    private final int[] readsNow;
    private final boolean anyUnknownIsCurious;
    private int urgentNeed;

    NextSteps(NumberedOperations<?, ?, ?> operations, PendingOperations pending, RemainingOperations remaining) {
        this.operations = operations;
        this.pending = pending;
        this.remaining = remaining;
        readsNow = new int[operations.states()];
        deadlines = deadlines();
        for (int state = 0; state < operations.states(); state++) {
            unknownMakers.add(new IntStack());
        }
        boolean curious = false;
        for (int kind = operations.known(); kind < operations.entries(); kind++) {
            curious |= operations.isCurious(kind);
            if (operations.needs(kind) != NumberedOperations.NONE) {
                neededByUnknown.push(operations.needs(kind));
            }
            if (operations.isWild(kind)) {
                wildUnknown.push(kind);
            } else {
                unknownMakers.get(operations.makes(kind)).push(kind);
            }
        }
        anyUnknownIsCurious = curious;
    }

    /** Until when each operation must have taken effect, by its own return or that of somebody who needs its state. */
    private long[] deadlines() {
        int[] makers = new int[operations.states()];
        long[] firstNeed = new long[operations.states()];
        Arrays.fill(firstNeed, Operation.NEVER);
        for (int entry = 0; entry < operations.entries(); entry++) {
            if (operations.makes(entry) != NumberedOperations.NONE) {
                makers[operations.makes(entry)] += operations.count(entry);
            }
            int needed = operations.needs(entry);
            if (needed != NumberedOperations.NONE) {
                firstNeed[needed] = Math.min(firstNeed[needed], operations.returned(entry));
            }
        }
        long[] result = new long[operations.entries()];
        for (int entry = 0; entry < result.length; entry++) {
            int made = operations.makes(entry);
            result[entry] = made != NumberedOperations.NONE && makers[made] == 1
                    ? Math.min(operations.returned(entry), firstNeed[made])
                    : operations.returned(entry);
        }
        return result;
    }

    /**
     * Adds the steps from a configuration.
     *
     * @param steps where to
     * @param state the present state
     * @param afterUnknown true if the last step was an unknown operation, which nobody has seen yet
     * @return how many
     */
    int addTo(IntStack steps, int state, boolean afterUnknown) {
        int before = steps.size();
        boolean curious = anyUnknownIsCurious;
        candidates.truncate(0);
        int event = pending.first();
        for (; pending.isInvocation(event); event = pending.after(event)) {
            int operation = PendingOperations.operation(event);
            candidates.push(operation);
            curious |= wantsAnyOther(operation, state);
            countRead(operation, 1);
        }
        int urgent = PendingOperations.operation(event);
        urgentNeed = operations.needs(urgent) == state ? NumberedOperations.NONE : operations.needs(urgent);
        if (afterUnknown || !remaining.isUnseen(state) || !addOneThatCostsNothing(steps)) {
            addKnown(steps, state, afterUnknown);
            addUnknown(steps, state, afterUnknown, curious, operations.returned(urgent));
            sort(steps, before);
        }
        for (int i = 0; i < candidates.size(); i++) {
            countRead(candidates.at(i), -1);
        }
        return steps.size() - before;
    }

    /** True if some other state, which is not told beforehand, may let an operation happen or end in another way. */
    private boolean wantsAnyOther(int operation, int state) {
        return operations.isCurious(operation)
                && (operations.isWild(operation) || operations.step(state, operation) == NumberedOperations.NONE);
    }

    private void countRead(int operation, int by) {
        int needed = operations.needs(operation);
        if (needed != NumberedOperations.NONE) {
            readsNow[needed] += by;
        }
    }

    private boolean addOneThatCostsNothing(IntStack steps) {
        for (int i = 0; i < candidates.size(); i++) {
            int operation = candidates.at(i);
            if (operations.isBlind(operation)) {
                int made = operations.makes(operation);
                if (remaining.isSeenBy(made, readsNow[made])) {
                    steps.push(operation);
                    return true;
                }
            }
        }
        return false;
    }

    private void addKnown(IntStack steps, int state, boolean afterUnknown) {
        for (int i = 0; i < candidates.size(); i++) {
            int operation = candidates.at(i);
            if (!(afterUnknown && operations.isBlind(operation))) {
                int next = operations.step(state, operation);
                if (next != NumberedOperations.NONE && (next == state || !remaining.isPinned(state, operation))) {
                    steps.push(operation);
                }
            }
        }
    }

    private void addUnknown(IntStack steps, int state, boolean afterUnknown, boolean curious, long limit) {
        int before = steps.size();
        if (curious) {
            for (int kind = operations.known(); kind < operations.entries(); kind++) {
                addUnknown(steps, before, kind, state, afterUnknown, limit);
            }
            return;
        }
        addAll(steps, before, wildUnknown, state, afterUnknown, limit);
        for (int i = 0; i < candidates.size(); i++) {
            addMakers(steps, before, operations.needs(candidates.at(i)), state, afterUnknown, limit);
        }
        for (int i = 0; i < neededByUnknown.size(); i++) {
            addMakers(steps, before, neededByUnknown.at(i), state, afterUnknown, limit);
        }
    }

    private void addMakers(IntStack steps, int before, int needed, int state, boolean afterUnknown, long limit) {
        if (needed != NumberedOperations.NONE && needed != state) {
            addAll(steps, before, unknownMakers.get(needed), state, afterUnknown, limit);
        }
    }

    private void addAll(IntStack steps, int before, IntStack kinds, int state, boolean afterUnknown, long limit) {
        for (int i = 0; i < kinds.size(); i++) {
            addUnknown(steps, before, kinds.at(i), state, afterUnknown, limit);
        }
    }

    private void addUnknown(IntStack steps, int before, int kind, int state, boolean afterUnknown, long limit) {
        int used = remaining.used(kind);
        if (used == operations.count(kind)
                || operations.invoked(kind, used) > limit
                || (afterUnknown && operations.isBlind(kind))
                || remaining.isPinned(state, kind)) {
            return;
        }
        for (int i = before; i < steps.size(); i++) {
            if (steps.at(i) == kind) {
                return;
            }
        }
        int next = operations.step(state, kind);
        if (next != NumberedOperations.NONE && next != state) {
            steps.push(kind);
        }
    }

    private void sort(IntStack steps, int from) {
        for (int i = from + 1; i < steps.size(); i++) {
            int step = steps.at(i);
            int at = i;
            while (at > from && isBetter(steps.at(at - 1), step)) {
                steps.set(at, steps.at(at - 1));
                at--;
            }
            steps.set(at, step);
        }
    }

    /** What the most urgent operation needs comes first, then known before unknown, then the nearest deadline. */
    private boolean isBetter(int one, int other) {
        int first = rank(one);
        int second = rank(other);
        return first != second ? first < second : deadlines[one] < deadlines[other];
    }

    private int rank(int step) {
        boolean makesUrgent = urgentNeed != NumberedOperations.NONE && operations.makes(step) == urgentNeed;
        return (makesUrgent ? 0 : 2) + (step < operations.known() ? 0 : 1);
    }
}
