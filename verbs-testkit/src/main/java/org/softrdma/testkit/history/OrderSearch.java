package org.softrdma.testkit.history;

/**
 * The search for an order of one key's operations that their times and outputs allow: depth first, one operation after
 * the other takes effect (Wing and Gong 1993), configurations that were met before are not entered again (Lowe 2017).
 * Known operations are a window of bits from the first one that has not had its turn, so the memory that a configuration
 * takes goes by how many run at a time, not by the length of the history. Single thread, for one search.
 */
final class OrderSearch {
    /** What a search finds. */
    enum Outcome {
        /** There is such an order. */
        LINEARIZABLE,
        /** There is none. */
        CONTRADICTORY,
        /** There were more configurations than allowed. */
        UNDECIDED
    }

    private final NumberedOperations<?, ?, ?> operations;
    private final PendingOperations pending;
    private final RemainingOperations remaining;
    private final NextSteps nextSteps;
    private final SeenConfigurations seen = new SeenConfigurations();
    private final long[] taken;
    private final long limit;
    private long entered;
    private long offered;

    // The configuration, and how it came about.
    private int state;
    private boolean afterUnknown;
    private int lastTaken = -1;
    private final IntStack trail = new IntStack();

    // Configurations to come back to: the steps that each has left lie above its mark.
    private final IntStack steps = new IntStack();
    private final IntStack marks = new IntStack();
    private final IntStack trails = new IntStack();
    private final IntStack states = new IntStack();
    private final IntStack lasts = new IntStack();

    /**
     * Nothing has taken effect.
     *
     * @param operations of one key
     * @param maxStates how many configurations it may enter beyond one per operation
     */
    OrderSearch(NumberedOperations<?, ?, ?> operations, long maxStates) {
        this.operations = operations;
        this.limit = maxStates + operations.known();
        pending = new PendingOperations(operations);
        remaining = new RemainingOperations(operations);
        nextSteps = new NextSteps(operations, pending, remaining);
        taken = new long[(operations.known() >> 6) + 1];
    }

    /** Configurations entered. */
    long entered() {
        return entered;
    }

    /** Configurations entered, and steps from them: what the search has cost. */
    long cost() {
        return entered + offered;
    }

    /** The order that a search has found: entries, one after the other. */
    int[] order() {
        int[] order = new int[trail.size()];
        for (int i = 0; i < order.length; i++) {
            order[i] = trail.at(i);
        }
        return order;
    }

    /** Searches. */
    Outcome run() {
        while (true) {
            takeWhatIsFree();
            if (pending.isEmpty()) {
                return Outcome.LINEARIZABLE;
            }
            if (entered == limit) {
                return Outcome.UNDECIDED;
            }
            entered++;
            int mark = steps.size();
            int choices = nextSteps.addTo(steps, state, afterUnknown);
            offered += choices;
            if (choices > 1 && !seen.add(configuration(), remaining.usedUnknown())) {
                steps.truncate(mark);
                choices = 0;
            }
            if (choices > 0) {
                comeBackHere(mark);
            }
            if (!takeNext()) {
                return Outcome.CONTRADICTORY;
            }
        }
    }

    /** Reads that are possible now, in any order: whoever leaves one for later has nothing by it. */
    private void takeWhatIsFree() {
        boolean again = true;
        while (again) {
            again = false;
            for (int event = pending.first(); pending.isInvocation(event); event = pending.after(event)) {
                int operation = PendingOperations.operation(event);
                boolean seesUnknown = !afterUnknown || !operations.isBlind(operation);
                if (operations.isFree(operation) && seesUnknown && operations.step(state, operation) == state) {
                    take(operation);
                    again = true;
                }
            }
        }
    }

    private void comeBackHere(int mark) {
        marks.push(mark);
        trails.push(trail.size());
        states.push(state << 1 | (afterUnknown ? 1 : 0));
        lasts.push(lastTaken);
    }

    /** Goes back to the last configuration that has a step left, and takes it; false if there is none. */
    private boolean takeNext() {
        if (marks.isEmpty()) {
            return false;
        }
        while (trail.size() > trails.top()) {
            putBack(trail.pop());
        }
        state = states.top() >> 1;
        afterUnknown = (states.top() & 1) != 0;
        lastTaken = lasts.top();
        int step = steps.pop();
        if (steps.size() == marks.top()) {
            marks.pop();
            trails.pop();
            states.pop();
            lasts.pop();
        }
        take(step);
        return true;
    }

    private void take(int entry) {
        state = operations.step(state, entry);
        trail.push(entry);
        remaining.take(entry);
        afterUnknown = entry >= operations.known();
        if (!afterUnknown) {
            pending.take(entry);
            taken[entry >> 6] |= 1L << entry;
            lastTaken = Math.max(lastTaken, entry);
        }
    }

    private void putBack(int entry) {
        remaining.putBack(entry);
        if (entry < operations.known()) {
            pending.putBack(entry);
            taken[entry >> 6] &= ~(1L << entry);
        }
    }

    /** The state, the first known operation that has not had its turn, and from there on one bit for each that has. */
    private long[] configuration() {
        int first = PendingOperations.operation(pending.first());
        int words = Math.max(0, (lastTaken >> 6) - (first >> 6) + 1);
        long[] result = new long[2 + words];
        result[0] = (long) state << 1 | (afterUnknown ? 1 : 0);
        result[1] = first;
        System.arraycopy(taken, first >> 6, result, 2, words);
        return result;
    }
}
