package org.softrdma.bench.workload;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.MixOutcome.Fault;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;

/**
 * Loads a store with a mix of GETs and PUTs over some connections from one thread, with a window of operations
 * outstanding on each. Looks at every value. Allocates nothing per operation. Belongs to one thread.
 */
public final class MixLoad {
    private static final long STALL_NS = TimeUnit.SECONDS.toNanos(20);

    private final StoreConnections connections;
    private final MixPairs pairs;
    private final LongSupplier clock;
    private final Runnable idle;
    private final int window;
    private final Slots slots;
    private final ResultHandler handler = this::take;
    private final Histogram getLatencies = Latencies.histogram();
    private final Histogram putLatencies = Latencies.histogram();
    private final long[] faults = new long[Fault.values().length];
    private Source source = (connection, slot) -> false;
    private long nowNs;
    private long gets;
    private long puts;

    /** What is to be started next; false if nothing was. */
    private interface Source {
        boolean start(int connection, int slot);
    }

    /**
     * When a run ends.
     *
     * @param operations after so many operations were started
     * @param ns or after so much time
     */
    public record End(long operations, long ns) {
        /** After some time. */
        public static End afterNs(long ns) {
            return new End(Long.MAX_VALUE, ns);
        }

        /** After some operations. */
        public static End after(long operations) {
            return new End(operations, Long.MAX_VALUE);
        }
    }

    /**
     * A load.
     *
     * @param connections to the store; stay open
     * @param pairs what is in it, or will be
     * @param maxWindow the largest window
     * @param clock nanoseconds
     * @param idle called when nothing has come
     */
    public MixLoad(StoreConnections connections, MixPairs pairs, int maxWindow, LongSupplier clock, Runnable idle) {
        this.connections = connections;
        this.pairs = pairs;
        this.clock = clock;
        this.idle = idle;
        window = maxWindow;
        slots = new Slots(connections.count(), maxWindow);
    }

    /** A load by the clock of this machine, which spins. */
    public MixLoad(StoreConnections connections, MixPairs pairs, int maxWindow) {
        this(connections, pairs, maxWindow, System::nanoTime, Thread::onSpinWait);
    }

    /**
     * Stores all pairs.
     *
     * @throws MeasurementException if one was not stored
     */
    public void insertAll() {
        int[] next = {0};
        source = (connection, slot) -> {
            int pair = next[0];
            slots.draw(slot, Math.min(pair, pairs.size() - 1), false, false);
            if (pair == pairs.size() || !start(connection, slot)) {
                return false;
            }
            next[0]++;
            return true;
        };
        requireAll("stored", false, run(window, End.after(pairs.size())), MixOutcome::puts);
    }

    /**
     * Gets each pair once, which lets clients learn where it is.
     *
     * @param lossy true if the store may have lost some
     * @throws MeasurementException if one was not there, or wrong
     */
    public void getAll(boolean lossy) {
        int[] next = {0};
        source = (connection, slot) -> {
            int pair = next[0];
            slots.draw(slot, Math.min(pair, pairs.size() - 1), true, false);
            if (pair == pairs.size() || !start(connection, slot)) {
                return false;
            }
            next[0]++;
            return true;
        };
        requireAll("got", lossy, run(window, End.after(pairs.size())), MixOutcome::gets);
    }

    private void requireAll(String what, boolean lossy, MixOutcome outcome, ToLongFunction<MixOutcome> count) {
        long failed = outcome.failed(lossy);
        if (failed > 0) {
            long done = count.applyAsLong(outcome);
            throw new MeasurementException("of " + (done + failed) + " pairs of " + pairs.valueLength() + " bytes only "
                    + done + " were " + what + ": " + outcome.errors());
        }
    }

    /**
     * Runs from rest to rest: asks as the windows allow, waits for what is outstanding.
     *
     * @param mix of GETs and PUTs
     * @param choice of keys
     * @param outstanding most operations on each connection, at most the largest window
     * @param end when it ends
     */
    public MixOutcome run(Mix mix, KeyChoice choice, int outstanding, End end) {
        if (outstanding < 1 || outstanding > window) {
            throw new IllegalArgumentException("window=" + outstanding + ": expected 1 to " + window);
        }
        source = (connection, slot) -> startOf(mix, choice, connection, slot);
        return run(outstanding, end);
    }

    private boolean startOf(Mix mix, KeyChoice choice, int connection, int slot) {
        // What was drawn and not taken is tried again, or the sequence would depend on time.
        if (!slots.isDrawn(slot)) {
            boolean get = choice.percent() < mix.getPercent();
            int pair = !mix.prefersLatest() ? choice.next() : get ? choice.nextOfLatest() : choice.nextToWrite();
            slots.draw(slot, pair, get || mix.readsBeforeItWrites(), !get && mix.readsBeforeItWrites());
        }
        return start(connection, slot);
    }

    private boolean start(int connection, int slot) {
        int pair = slots.pair(slot);
        boolean taken = slots.isGet(slot)
                ? connections.startGet(connection, pairs.key(pair), slot)
                : connections.startPut(connection, pairs.key(pair), pairs.next(pair), slot);
        if (taken) {
            slots.started(slot, nowNs);
        }
        return taken;
    }

    private MixOutcome run(int outstanding, End end) {
        getLatencies.reset();
        putLatencies.reset();
        Arrays.fill(faults, 0);
        gets = 0;
        puts = 0;
        slots.reset();
        long started = 0;
        long startNs = clock.getAsLong();
        nowNs = startNs;
        long heardNs = startNs;
        boolean over = false;
        while (!over || slots.busy() > 0) {
            for (int connection = 0; connection < connections.count(); connection++) {
                started += putBack(connection);
                while (!over && started < end.operations() && startOne(connection, outstanding)) {
                    started++;
                }
            }
            int results = connections.poll(handler);
            nowNs = clock.getAsLong();
            over |= started >= end.operations() || nowNs - startNs >= end.ns();
            if (results > 0) {
                heardNs = nowNs;
            } else {
                idle.run();
                requireAlive(heardNs);
            }
        }
        return new MixOutcome(gets, puts, faults(), nowNs - startNs, getLatencies, putLatencies);
    }

    private boolean startOne(int connection, int outstanding) {
        if (slots.busy(connection) >= outstanding) {
            return false;
        }
        int slot = slots.free(connection);
        return source.start(connection, slot);
    }

    /** Starts the PUTs that follow GETs; how many. */
    private int putBack(int connection) {
        int count = 0;
        while (slots.hasPutBack(connection)) {
            if (!start(connection, slots.nextPutBack(connection))) {
                return count;
            }
            slots.dropPutBack(connection);
            count++;
        }
        return count;
    }

    private void requireAlive(long heardNs) {
        if (slots.busy() > 0 && nowNs - heardNs > STALL_NS) {
            throw new MeasurementException(
                    slots.busy() + " operations were not answered within 20 s: is the server alive?");
        }
    }

    private void take(long tag, Outcome outcome, MemorySegment memory, long offset, long length) {
        int slot = (int) tag;
        long ns = Math.clamp(clock.getAsLong() - slots.startedNs(slot), 0, Latencies.HIGHEST_NS);
        switch (outcome) {
            case FOUND -> {
                if (pairs.isValue(slots.pair(slot), memory, offset, length)) {
                    gets++;
                    getLatencies.recordValue(ns);
                } else {
                    count(Fault.WRONG_VALUE);
                }
            }
            case STORED -> {
                puts++;
                putLatencies.recordValue(ns);
            }
            case MISSING -> count(Fault.MISSING);
            case FULL -> count(Fault.FULL);
            case GAVE_UP -> count(Fault.GAVE_UP);
            case LOST, REMOVED -> count(Fault.LOST);
        }
        if (slots.isThenPut(slot)) {
            slots.putBack(slot);
        } else {
            slots.ended(slot);
        }
    }

    private void count(Fault fault) {
        faults[fault.ordinal()]++;
    }

    private Map<Fault, Long> faults() {
        Map<Fault, Long> map = new EnumMap<>(Fault.class);
        for (Fault fault : Fault.values()) {
            if (faults[fault.ordinal()] > 0) {
                map.put(fault, faults[fault.ordinal()]);
            }
        }
        return map;
    }
}
