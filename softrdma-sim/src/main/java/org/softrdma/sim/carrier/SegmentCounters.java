package org.softrdma.sim.carrier;

import java.util.Map;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.wire.MessageKind;

/** The segments of one engine's streams, by their kind. Threads as for {@link Counters}. */
public final class SegmentCounters {
    private final Counters<MessageKind> sent = new Counters<>(MessageKind.values(), MessageKind::sentLabel);
    private final Counters<MessageKind> received = new Counters<>(MessageKind.values(), MessageKind::receivedLabel);

    /** Counts a segment that TCP has taken. Engine thread. */
    public void sent(MessageKind kind) {
        sent.increment(kind);
    }

    /** Counts a segment whose header has arrived. Engine thread. */
    public void received(MessageKind kind) {
        received.increment(kind);
    }

    /** Adds the current values to a snapshot, by name. Any thread. */
    public void addTo(Map<String, Long> snapshot) {
        sent.addTo(snapshot);
        received.addTo(snapshot);
    }
}
