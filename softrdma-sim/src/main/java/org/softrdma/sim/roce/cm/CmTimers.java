package org.softrdma.sim.roce.cm;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** What is due when. One thread. */
final class CmTimers {
    private final PriorityQueue<Entry> entries =
            new PriorityQueue<>(Comparator.comparingLong(Entry::dueNs).thenComparingLong(Entry::number));
    private long number;

    private record Entry(long dueNs, long number, Timer timer) {
        boolean isCurrent() {
            return timer.number == number;
        }
    }

    /** Something that happens once, later. */
    abstract static class Timer {
        private static final long OFF = -1;

        private long number = OFF;

        /** Its time has come. */
        abstract void expired(long nowNs);

        /** It will not happen. */
        final void cancel() {
            number = OFF;
        }
    }

    /** Sets a timer, or sets it to another time. */
    void set(Timer timer, long dueNs) {
        timer.number = number++;
        entries.add(new Entry(dueNs, timer.number, timer));
    }

    /** When the next one is due; Long.MAX_VALUE if none is set. */
    long nextNs() {
        Entry next = first();
        return next == null ? Long.MAX_VALUE : next.dueNs();
    }

    /** Runs those that are due. */
    void expire(long nowNs) {
        for (Entry next = first(); next != null && next.dueNs() <= nowNs; next = first()) {
            entries.remove();
            next.timer().cancel();
            next.timer().expired(nowNs);
        }
    }

    /** Those that were cancelled, or set again, go when they come first. */
    private @Nullable Entry first() {
        Entry first = entries.peek();
        while (first != null && !first.isCurrent()) {
            entries.remove();
            first = entries.peek();
        }
        return first;
    }
}
