package org.softrdma.cli.farm;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;
import org.HdrHistogram.Histogram;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.Latencies;

/**
 * Operations of a client that polls, as many under way as a window holds. It begins at rest, goes, and comes to rest again
 * when all that were begun are over: so what is counted between two rests belongs to its operations. The node's thread;
 * whoever waits may read and forget while it is at rest.
 */
abstract class WindowLoad implements IntSupplier {
    private enum State {
        GOING,
        /** It begins no more operations. */
        ENDING,
        AT_REST
    }

    private final AtomicReference<State> state = new AtomicReference<>(State.AT_REST);
    private final int window;
    private final IntArrayList free = new IntArrayList();
    private final long[] beganNs;
    private final Histogram latencies = Latencies.histogram();
    private long aborted;
    private long lost;
    private volatile @Nullable String failure;

    WindowLoad(int window) {
        this.window = window;
        beganNs = new long[window];
        for (int i = 0; i < window; i++) {
            free.addInt(i);
        }
    }

    // ---- what a load does; the node's thread

    /** Begins an operation, which is named by a place in the window that is free. */
    abstract void begin(int place);

    /** Takes what has come; returns how much. */
    abstract int poll();

    /** It comes to rest. */
    void onRest() {
        // most have nothing else to count
    }

    /** An operation is over; returns how long it took. */
    final long ended(int place) {
        long latencyNs = Math.min(System.nanoTime() - beganNs[place], Latencies.HIGHEST_NS);
        latencies.recordValue(latencyNs);
        free.addInt(place);
        return latencyNs;
    }

    /** One was aborted, and is begun again. */
    final void aborts() {
        aborted++;
    }

    /** Nobody knows what came of one. */
    final void loses() {
        lost++;
    }

    /** It cannot go on. */
    final void fail(String reason, int place) {
        failure = reason;
        free.addInt(place);
    }

    @Override
    public final int getAsInt() {
        State now = state.get();
        int work = 0;
        while (now == State.GOING && failure == null && !free.isEmpty()) {
            int place = free.removeAt(free.size() - 1);
            beganNs[place] = System.nanoTime();
            begin(place);
            work++;
        }
        work += now == State.AT_REST ? 0 : poll();
        if (now == State.ENDING && free.size() == window) {
            onRest();
            state.set(State.AT_REST);
        }
        return work;
    }

    // ---- whoever waits

    /** Goes on from rest. */
    final void go() {
        requireState(State.AT_REST, State.GOING);
    }

    /** Begins no more operations; soon it {@link #isAtRest}. */
    final void end() {
        requireState(State.GOING, State.ENDING);
    }

    private void requireState(State before, State after) {
        if (!state.compareAndSet(before, after)) {
            throw new IllegalStateException("the load is " + state.get() + ": expected " + before);
        }
    }

    final boolean isAtRest() {
        return state.get() == State.AT_REST;
    }

    /** Why it cannot go on, or null. */
    final @Nullable String failure() {
        return failure;
    }

    /** At rest: forgets what it has counted. */
    void forget() {
        latencies.reset();
        aborted = 0;
        lost = 0;
    }

    /** Of all operations that it has not forgotten. */
    final Histogram latencies() {
        return latencies;
    }

    /** Those that were aborted, and begun again. */
    final long aborted() {
        return aborted;
    }

    /** Those of which nobody knows what came of them. */
    final long lost() {
        return lost;
    }
}
