package org.softrdma.sim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * Counters of one engine, one for each constant of an enum. Only the engine's thread writes them; any thread may read them, slightly late
 * but never torn.
 *
 * @param <E> what is counted
 */
public final class Counters<E extends Enum<E>> {
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final BinaryOperator<Long> SUM = Long::sum;

    private final String[] labels;
    private final long[] values;

    /**
     * All zero.
     *
     * @param counted all constants
     * @param label their names in snapshots
     */
    public Counters(E[] counted, Function<E, String> label) {
        labels = new String[counted.length];
        for (E one : counted) {
            labels[one.ordinal()] = label.apply(one);
        }
        values = new long[counted.length];
        add(counted[0], 0); // links the access: the first fault may have no memory for that
    }

    /** Adds. Engine thread. */
    public void add(E counter, long amount) {
        int index = counter.ordinal();
        VALUE.setOpaque(values, index, values[index] + amount);
    }

    /** Adds one. Engine thread. */
    public void increment(E counter) {
        add(counter, 1);
    }

    /** Adds the current values to a snapshot, by name. Any thread. */
    public void addTo(Map<String, Long> snapshot) {
        for (int i = 0; i < labels.length; i++) {
            snapshot.merge(labels[i], (long) VALUE.getOpaque(values, i), SUM);
        }
    }
}
