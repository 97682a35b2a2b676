package org.softrdma.bench.measurement;

import java.util.concurrent.TimeUnit;

/**
 * When a load's operations are to start. Closed: whenever a place in a window is free. Open: at a constant rate, whatever the
 * server does, and latency counts from the intended start, so that a server that stalls cannot hide the operations it kept
 * from being asked (no coordinated omission). For one run, or several one after the other; owned by one thread.
 */
public final class Arrivals {
    /** How much longer than asked for a run goes on for what has arrived and could not start. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private final long durationNs;
    /** Between two arrivals; 0 if closed. */
    private final double intervalNs;

    private long startNs;
    private long taken;

    private Arrivals(long durationNs, double intervalNs) {
        this.durationNs = durationNs;
        this.intervalNs = intervalNs;
    }

    /**
     * As fast as answers come.
     *
     * @param durationNs for how long
     */
    public static Arrivals closed(long durationNs) {
        return new Arrivals(durationNs, 0);
    }

    /**
     * At a constant rate.
     *
     * @param perSecond operations per second, positive
     * @param durationNs for how long
     */
    public static Arrivals open(double perSecond, long durationNs) {
        if (!(perSecond > 0)) {
            throw new IllegalArgumentException("rate=" + perSecond + " per second: expected more than 0");
        }
        return new Arrivals(durationNs, TimeUnit.SECONDS.toNanos(1) / perSecond);
    }

    /**
     * Begins a run.
     *
     * @param nowNs the time
     */
    public void start(long nowNs) {
        startNs = nowNs;
        taken = 0;
    }

    /**
     * True if the next operation is to start now or was to start earlier, within the run.
     *
     * @param nowNs the time
     */
    public boolean isDue(long nowNs) {
        return nowNs - nextNs(nowNs) >= 0 && !isOver(nowNs);
    }

    /**
     * Takes the operation that is due.
     *
     * @param nowNs the time
     * @return when it was to start: its latency counts from there
     */
    public long take(long nowNs) {
        long next = nextNs(nowNs);
        taken++;
        return next;
    }

    /**
     * True if no further operation will be due: all have been taken, or the server does not keep up at all.
     *
     * @param nowNs the time
     */
    public boolean isOver(long nowNs) {
        return nextNs(nowNs) - startNs >= durationNs || nowNs - startNs >= durationNs + PATIENCE_NS;
    }

    private long nextNs(long nowNs) {
        return intervalNs == 0 ? nowNs : startNs + (long) (taken * intervalNs);
    }
}
