package org.softrdma.sim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** One engine's counters: written by its thread only, read by any (a little late, never torn). */
public final class EngineCounters {
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int SIZE = Counter.values().length;

    private final long[] values = new long[SIZE];

    /** All zero. */
    public EngineCounters() {}

    /** Adds. Engine thread. */
    public void add(Counter counter, long amount) {
        int index = counter.ordinal();
        VALUE.setOpaque(values, index, values[index] + amount);
    }

    /** Adds one. Engine thread. */
    public void increment(Counter counter) {
        add(counter, 1);
    }

    /** The value now. Any thread. */
    public long get(Counter counter) {
        return (long) VALUE.getOpaque(values, counter.ordinal());
    }
}
