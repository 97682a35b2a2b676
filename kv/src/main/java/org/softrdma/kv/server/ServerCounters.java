package org.softrdma.kv.server;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What the server counts, besides the store. Any thread adds. */
final class ServerCounters {
    final AtomicInteger currentConnections = new AtomicInteger();
    final LongAdder totalConnections = new LongAdder();
    final LongAdder rejectedConnections = new LongAdder();
    final LongAdder idleKicks = new LongAdder();
    final LongAdder bytesRead = new LongAdder();
    final LongAdder bytesWritten = new LongAdder();
    final LongAdder getHits = new LongAdder();
    final LongAdder getMisses = new LongAdder();
    final LongAdder sets = new LongAdder();
    final LongAdder touchHits = new LongAdder();
    final LongAdder touchMisses = new LongAdder();
    final LongAdder deleteHits = new LongAdder();
    final LongAdder deleteMisses = new LongAdder();
    final LongAdder incrHits = new LongAdder();
    final LongAdder incrMisses = new LongAdder();
    final LongAdder decrHits = new LongAdder();
    final LongAdder decrMisses = new LongAdder();
    final LongAdder casHits = new LongAdder();
    final LongAdder casMisses = new LongAdder();
    final LongAdder casBadValues = new LongAdder();
    final LongAdder authentications = new LongAdder();
    final LongAdder failedAuthentications = new LongAdder();
    final LongAdder yields = new LongAdder();
    final LongAdder flushes = new LongAdder();
    final LongAdder metas = new LongAdder();
    final LongAdder tooLarge = new LongAdder();
    final LongAdder outOfMemory = new LongAdder();

    /** Queue pairs bound to a memcached connection now. */
    final AtomicInteger boundQueuePairs = new AtomicInteger();

    /** Queue pairs that ended because their peers used wrong keys, where the device tells. */
    final LongAdder wrongKeys = new LongAdder();

    /** Hellos refused because queue pairs of the address used wrong keys. */
    final LongAdder pausedHellos = new LongAdder();

    /** Queue pairs that were refused, or ended before their hello was answered. */
    final LongAdder rejectedQueuePairs = new LongAdder();

    /** Queue pairs that were ended because their clients took no answers. */
    final LongAdder stalledQueuePairs = new LongAdder();

    /** rgets that wrote an item. */
    final LongAdder rgetHits = new LongAdder();

    /** rgets answered without an item. */
    final LongAdder rgetMisses = new LongAdder();

    /** READs that found an item, as far as clients have reported them. */
    final LongAdder rdmaGetHits = new LongAdder();

    /** Touch reports taken. */
    final LongAdder rdmaTouchReports = new LongAdder();

    /** READs of touch reports that were not counted, because nobody READs so fast. */
    final LongAdder rdmaHitsRefused = new LongAdder();

    /** Records of touch reports that moved nothing in the LRU, because the client had named too many. */
    final LongAdder rdmaTouchesRefused = new LongAdder();

    /** Starts anew what counts events; what is counted as it stands stays. */
    void reset() {
        for (LongAdder each : new LongAdder[] {
            totalConnections,
            rejectedConnections,
            idleKicks,
            bytesRead,
            bytesWritten,
            getHits,
            getMisses,
            sets,
            touchHits,
            touchMisses,
            deleteHits,
            deleteMisses,
            incrHits,
            incrMisses,
            decrHits,
            decrMisses,
            casHits,
            casMisses,
            casBadValues,
            authentications,
            failedAuthentications,
            yields,
            flushes,
            metas,
            tooLarge,
            outOfMemory,
            rgetHits,
            rgetMisses,
            rdmaGetHits,
            rdmaTouchReports,
            rdmaHitsRefused,
            rdmaTouchesRefused
        }) {
            each.reset();
        }
    }
}
