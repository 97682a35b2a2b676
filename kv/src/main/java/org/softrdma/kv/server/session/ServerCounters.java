package org.softrdma.kv.server.session;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What the server counts about memcached connections and their commands. Any thread adds. */
public final class ServerCounters {
    public final AtomicInteger currentConnections = new AtomicInteger();
    public final LongAdder totalConnections = new LongAdder();
    public final LongAdder rejectedConnections = new LongAdder();
    public final LongAdder idleKicks = new LongAdder();
    public final LongAdder bytesRead = new LongAdder();
    public final LongAdder bytesWritten = new LongAdder();
    public final LongAdder getHits = new LongAdder();
    public final LongAdder getMisses = new LongAdder();
    public final LongAdder sets = new LongAdder();
    public final LongAdder touchHits = new LongAdder();
    public final LongAdder touchMisses = new LongAdder();
    public final LongAdder deleteHits = new LongAdder();
    public final LongAdder deleteMisses = new LongAdder();
    public final LongAdder incrHits = new LongAdder();
    public final LongAdder incrMisses = new LongAdder();
    public final LongAdder decrHits = new LongAdder();
    public final LongAdder decrMisses = new LongAdder();
    public final LongAdder casHits = new LongAdder();
    public final LongAdder casMisses = new LongAdder();
    public final LongAdder casBadValues = new LongAdder();
    public final LongAdder authentications = new LongAdder();
    public final LongAdder failedAuthentications = new LongAdder();
    public final LongAdder yields = new LongAdder();
    public final LongAdder flushes = new LongAdder();
    public final LongAdder metas = new LongAdder();
    public final LongAdder tooLarge = new LongAdder();
    public final LongAdder outOfMemory = new LongAdder();

    /** Resets what counts events. What counts a present state stays. */
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
            outOfMemory
        }) {
            each.reset();
        }
    }
}
