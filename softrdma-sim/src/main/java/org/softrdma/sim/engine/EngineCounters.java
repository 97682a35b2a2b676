package org.softrdma.sim.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.function.BinaryOperator;
import org.softrdma.sim.wire.MessageKind;

/** One engine's counters. Only its thread writes them; any thread may read them, slightly late but never torn. */
public final class EngineCounters {
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final Counter[] COUNTERS = Counter.values();
    private static final MessageKind[] KINDS = MessageKind.values();
    private static final BinaryOperator<Long> SUM = Long::sum;
    private static final int SENT = COUNTERS.length;
    private static final int RECEIVED = SENT + KINDS.length;
    private static final int SIZE = RECEIVED + KINDS.length;

    private final long[] values = new long[SIZE];

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

    /** Counts a segment that TCP has taken. Engine thread. */
    public void sent(MessageKind kind) {
        add(SENT + kind.ordinal(), 1);
    }

    /** Counts a segment whose header has arrived. Engine thread. */
    public void received(MessageKind kind) {
        add(RECEIVED + kind.ordinal(), 1);
    }

    private void add(int index, long amount) {
        VALUE.setOpaque(values, index, values[index] + amount);
    }

    /** Adds the current values to a snapshot, by name. Any thread. */
    public void addTo(Map<String, Long> snapshot) {
        for (Counter counter : COUNTERS) {
            snapshot.merge(counter.label(), get(counter.ordinal()), SUM);
        }
        for (MessageKind kind : KINDS) {
            snapshot.merge(kind.sentLabel(), get(SENT + kind.ordinal()), SUM);
            snapshot.merge(kind.receivedLabel(), get(RECEIVED + kind.ordinal()), SUM);
        }
    }

    private long get(int index) {
        return (long) VALUE.getOpaque(values, index);
    }
}
