package org.softrdma.kv.server.rdma;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What the server counts about queue pairs. Any thread adds. */
public final class RdmaCounters {
    /** Queue pairs bound to a memcached connection now. */
    public final AtomicInteger boundQueuePairs = new AtomicInteger();

    /** Queue pairs that ended because their peers used wrong keys, where the device tells. */
    public final LongAdder wrongKeys = new LongAdder();

    /** Hellos refused because queue pairs of the address used wrong keys. */
    public final LongAdder pausedHellos = new LongAdder();

    /** Queue pairs that were refused, or ended before their hello was answered. */
    public final LongAdder rejectedQueuePairs = new LongAdder();

    /** Queue pairs that the server ended because their clients took no answers. */
    public final LongAdder stalledQueuePairs = new LongAdder();

    /** rgets that wrote an item. */
    public final LongAdder rgetHits = new LongAdder();

    /** rgets answered without an item. */
    public final LongAdder rgetMisses = new LongAdder();

    /** READs that found an item, as far as clients have reported them. */
    public final LongAdder getHits = new LongAdder();

    /** Touch reports taken. */
    public final LongAdder touchReports = new LongAdder();

    /** READs in touch reports that were not counted, because nobody READs that fast. */
    public final LongAdder hitsRefused = new LongAdder();

    /** Records of touch reports that had no effect on the LRU, because the client had reported too many. */
    public final LongAdder touchesRefused = new LongAdder();

    /** Nothing is counted yet. */
    public RdmaCounters() {}

    /** Resets what {@code stats reset} resets. What is counted about queue pairs as such stays. */
    public void reset() {
        for (LongAdder each :
                new LongAdder[] {rgetHits, rgetMisses, getHits, touchReports, hitsRefused, touchesRefused}) {
            each.reset();
        }
    }
}
