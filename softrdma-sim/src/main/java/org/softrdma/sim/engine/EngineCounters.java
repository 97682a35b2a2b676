package org.softrdma.sim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.function.BinaryOperator;

/** One engine's counters. Only its thread writes them; any thread may read them, slightly late but never torn. */
public final class EngineCounters {
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final Counter[] COUNTERS = Counter.values();
    private static final BinaryOperator<Long> SUM = Long::sum;

    private final long[] values = new long[COUNTERS.length];

    /** All zero. */
    public EngineCounters() {
        add(0, 0); // links the access: the first fault may have no memory for that
    }

    /** Adds. Engine thread. */
    public void add(Counter counter, long amount) {
        add(counter.ordinal(), amount);
    }

    /** Adds one. Engine thread. */
    public void increment(Counter counter) {
        add(counter.ordinal(), 1);
    }

    private void add(int index, long amount) {
        VALUE.setOpaque(values, index, values[index] + amount);
    }

    /** Adds the current values to a snapshot, by name. Any thread. */
    public void addTo(Map<String, Long> snapshot) {
        for (Counter counter : COUNTERS) {
            snapshot.merge(counter.label(), get(counter.ordinal()), SUM);
        }
    }

    private long get(int index) {
        return (long) VALUE.getOpaque(values, index);
    }
}
