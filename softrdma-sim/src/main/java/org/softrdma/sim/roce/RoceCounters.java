package org.softrdma.sim.roce;

import java.util.Map;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.roce.unreliable.Drop;

/**
 * What the ports of an engine count.
 *
 * @param all beside drops
 * @param drops packets of unreliable queue pairs that did nothing
 */
record RoceCounters(Counters<RoceCounter> all, Counters<Drop> drops) {
    RoceCounters() {
        this(new Counters<>(RoceCounter.values(), RoceCounter::label), new Counters<>(Drop.values(), Drop::label));
    }

    /** Adds them to a snapshot. Any thread. */
    void addTo(Map<String, Long> snapshot) {
        all.addTo(snapshot);
        drops.addTo(snapshot);
    }
}
