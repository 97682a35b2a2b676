package org.softrdma.testkit.history;

import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The known operations that have not taken their turn, as a list of their invocations and returns in order of time. Those
 * whose invocation stands before the first return may be next: each other one was invoked after that return. An entry
 * leaves and comes back in O(1), the last to leave first (Wing and Gong 1993). Single thread.
 */
final class PendingOperations {
    private final int[] next;
    private final int[] previous;
    private final int head;

    /** All known operations of a key. */
    PendingOperations(NumberedOperations<?, ?, ?> operations) {
        int known = operations.known();
        head = 2 * known;
        next = new int[head + 1];
        previous = new int[head + 1];
        long[] times = new long[head];
        for (int i = 0; i < known; i++) {
            times[2 * i] = operations.invoked(i, 0);
            times[2 * i + 1] = operations.returned(i);
        }
        // Invocations come first at the same time: what shares an instant overlaps.
        int[] order = IntStream.range(0, head)
                .boxed()
                .sorted(Comparator.<Integer>comparingLong(event -> times[event]).thenComparingInt(event -> event & 1))
                .mapToInt(Integer::intValue)
                .toArray();
        int last = head;
        for (int event : order) {
            next[last] = event;
            previous[event] = last;
            last = event;
        }
        next[last] = head;
        previous[head] = last;
    }

    /** True if all have had their turn. */
    boolean isEmpty() {
        return next[head] == head;
    }

    /** The first event: an invocation, unless the list is empty. */
    int first() {
        return next[head];
    }

    /** The event after another, also of one that has just left. */
    int after(int event) {
        return next[event];
    }

    /** True of an invocation; the first event that is none is the first return. */
    boolean isInvocation(int event) {
        return (event & 1) == 0 && event != head;
    }

    /** Whose event it is. */
    static int operation(int event) {
        return event >> 1;
    }

    /** Takes an operation out. */
    void take(int operation) {
        for (int event = 2 * operation; event <= 2 * operation + 1; event++) {
            next[previous[event]] = next[event];
            previous[next[event]] = previous[event];
        }
    }

    /** Puts the operation that was taken last back. */
    void putBack(int operation) {
        for (int event = 2 * operation + 1; event >= 2 * operation; event--) {
            next[previous[event]] = event;
            previous[next[event]] = event;
        }
    }
}
