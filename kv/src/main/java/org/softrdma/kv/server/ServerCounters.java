package org.softrdma.kv.server;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What the server counts, besides the store. Any thread adds. */
final class ServerCounters {
    final AtomicInteger currentConnections = new AtomicInteger();
    final LongAdder totalConnections = new LongAdder();
    final LongAdder rejectedConnections = new LongAdder();
    final LongAdder getHits = new LongAdder();
    final LongAdder getMisses = new LongAdder();
    final LongAdder sets = new LongAdder();
    final LongAdder deleteHits = new LongAdder();
    final LongAdder deleteMisses = new LongAdder();
    final LongAdder tooLarge = new LongAdder();
    final LongAdder outOfMemory = new LongAdder();

    /** Queue pairs bound to a memcached connection now. */
    final AtomicInteger boundQueuePairs = new AtomicInteger();

    /** Queue pairs that never showed a good token. */
    final LongAdder rejectedQueuePairs = new LongAdder();

    /** rgets that wrote an item. */
    final LongAdder rgetHits = new LongAdder();

    /** rgets answered without an item. */
    final LongAdder rgetMisses = new LongAdder();

    /** READs that found an item, as far as clients have reported them. */
    final LongAdder rdmaGetHits = new LongAdder();

    /** Touch reports taken. */
    final LongAdder rdmaTouchReports = new LongAdder();
}
