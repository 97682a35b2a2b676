package org.softrdma.sim.carrier;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.function.BinaryOperator;
import org.softrdma.sim.wire.MessageKind;

/**
 * The segments of one engine's streams, by their kind. Only its thread writes them; any thread may read them, slightly
 * late but never torn.
 */
public final class SegmentCounters {
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final BinaryOperator<Long> SUM = Long::sum;
    private static final MessageKind[] KINDS = MessageKind.values();

    private final long[] sent = new long[KINDS.length];
    private final long[] received = new long[KINDS.length];

    /** All zero. */
    public SegmentCounters() {
        add(sent, 0, 0); // links the access: the first Terminate may have no memory for that
    }

    /** Counts a segment that TCP has taken. Engine thread. */
    public void sent(MessageKind kind) {
        add(sent, kind.ordinal(), 1);
    }

    /** Counts a segment whose header has arrived. Engine thread. */
    public void received(MessageKind kind) {
        add(received, kind.ordinal(), 1);
    }

    private static void add(long[] values, int index, long amount) {
        VALUE.setOpaque(values, index, values[index] + amount);
    }

    /** Adds the current values to a snapshot, by name. Any thread. */
    public void addTo(Map<String, Long> snapshot) {
        for (MessageKind kind : KINDS) {
            snapshot.merge(kind.sentLabel(), (long) VALUE.getOpaque(sent, kind.ordinal()), SUM);
            snapshot.merge(kind.receivedLabel(), (long) VALUE.getOpaque(received, kind.ordinal()), SUM);
        }
    }
}
