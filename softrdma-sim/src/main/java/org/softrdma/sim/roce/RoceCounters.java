package org.softrdma.sim.roce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.function.BinaryOperator;

/** The counters of an engine's ports. Only its thread writes them; any thread may read them, slightly late but never torn. */
final class RoceCounters {
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final RoceCounter[] COUNTERS = RoceCounter.values();
    private static final BinaryOperator<Long> SUM = Long::sum;

    private final long[] values = new long[COUNTERS.length];

    void add(RoceCounter counter, long amount) {
        int index = counter.ordinal();
        VALUE.setOpaque(values, index, values[index] + amount);
    }

    void increment(RoceCounter counter) {
        add(counter, 1);
    }

    /** Adds the current values to a snapshot, by name. Any thread. */
    void addTo(Map<String, Long> snapshot) {
        for (RoceCounter counter : COUNTERS) {
            snapshot.merge(counter.label(), (long) VALUE.getOpaque(values, counter.ordinal()), SUM);
        }
    }
}
