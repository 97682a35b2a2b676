package org.softrdma.sim.roce.cm;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What is due when: a binary heap, in which each timer knows its place. A timer that was {@linkplain #keep kept} has a place until it is
 * {@linkplain #remove removed}, so setting it needs no memory: what is to be repeated, or forgotten, is not lost for want of some. One
 * thread.
 */
final class CmTimers {
    private static final int FIRST_ROOM = 16;
    private static final long NEVER = Long.MAX_VALUE;
    /** When something is done for which there was no memory. */
    private static final long AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private @Nullable Timer[] heap = new Timer[FIRST_ROOM];
    private int size;
    private long numbers;

    /** Something that happens once, later. */
    abstract static class Timer {
        private static final int NOWHERE = -1;

        private int place = NOWHERE;
        private boolean kept;
        private boolean set;
        /** Its order in the heap, also if it was cancelled: until it comes first. */
        private long dueNs = NEVER;
        /** Of two that are due at the same time, the one that was set first comes first. */
        private long number;

        /** Its time has come. If it throws for want of memory, it comes again: it begins anew then. */
        abstract void expired(long nowNs);

        /** It will not happen. */
        final void cancel() {
            set = false;
        }

        private boolean isBefore(Timer other) {
            return dueNs < other.dueNs || (dueNs == other.dueNs && number < other.number);
        }
    }

    /** A timer that is not set keeps a place from now on. */
    void keep(Timer timer) {
        add(timer);
        timer.kept = true;
    }

    /** Sets a timer, or sets it to another time. Only one that was not kept may need memory. */
    void set(Timer timer, long dueNs) {
        if (timer.place < 0) {
            add(timer);
        }
        timer.set = true;
        timer.dueNs = dueNs;
        timer.number = numbers++;
        settle(timer);
    }

    /** A timer will not be set any more. */
    void remove(Timer timer) {
        timer.cancel();
        timer.kept = false;
        if (timer.place >= 0) {
            takeOut(timer);
        }
    }

    /** When the next one is due; Long.MAX_VALUE if none is set. */
    long nextNs() {
        Timer next = first();
        return next == null ? NEVER : next.dueNs;
    }

    /** Runs those that are due. */
    void expire(long nowNs) {
        for (Timer next = first(); next != null && next.dueNs <= nowNs; next = first()) {
            next.cancel();
            putAside(next);
            try {
                next.expired(nowNs);
            } catch (OutOfMemoryError e) {
                set(next, nowNs + AGAIN_NS);
            }
        }
    }

    /** The first one that is set. */
    private @Nullable Timer first() {
        Timer first = heap[0];
        while (first != null && !first.set) {
            if (first.kept && first.dueNs == NEVER) {
                return null; // nor are all the others
            }
            putAside(first);
            first = heap[0];
        }
        return first;
    }

    /** One that is not set: down, if it keeps its place, or out. */
    private void putAside(Timer timer) {
        if (timer.kept) {
            timer.dueNs = NEVER;
            boolean ignored = sink(timer);
        } else {
            takeOut(timer);
        }
    }

    private void add(Timer timer) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        put(timer, size);
        size++;
    }

    private void takeOut(Timer timer) {
        size--;
        Timer last = at(size);
        heap[size] = null;
        if (last != timer) {
            put(last, timer.place);
            settle(last);
        }
        timer.place = Timer.NOWHERE;
    }

    private Timer at(int place) {
        Timer timer = heap[place];
        if (timer == null) {
            throw new IllegalStateException("no timer at " + place + " of " + size);
        }
        return timer;
    }

    private void put(Timer timer, int place) {
        heap[place] = timer;
        timer.place = place;
    }

    private void settle(Timer timer) {
        if (!rise(timer)) {
            boolean ignored = sink(timer);
        }
    }

    private boolean rise(Timer timer) {
        boolean moved = false;
        while (timer.place > 0) {
            Timer above = at((timer.place - 1) / 2);
            if (!timer.isBefore(above)) {
                return moved;
            }
            swap(timer, above);
            moved = true;
        }
        return moved;
    }

    /** Below those that are due before it; true if there was one. */
    private boolean sink(Timer timer) {
        boolean moved = false;
        for (Timer below = below(timer.place); below != null && below.isBefore(timer); below = below(timer.place)) {
            swap(timer, below);
            moved = true;
        }
        return moved;
    }

    /** The earlier one of the two below a place. */
    private @Nullable Timer below(int place) {
        int left = 2 * place + 1;
        if (left >= size) {
            return null;
        }
        int right = left + 1;
        return right < size && at(right).isBefore(at(left)) ? at(right) : at(left);
    }

    private void swap(Timer one, Timer other) {
        int place = one.place;
        put(one, other.place);
        put(other, place);
    }
}
