package org.softrdma.kv.server.session;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What the server counts about memcached connections and their commands. Any thread adds. */
public final class ServerCounters {
    public final AtomicInteger currentConnections = new AtomicInteger();

    /** The number of the last connection; each has its own. */
    final AtomicLong lastConnection = new AtomicLong();

    public final LongAdder totalConnections = new LongAdder();
    public final LongAdder rejectedConnections = new LongAdder();
    public final LongAdder idleKicks = new LongAdder();
    public final LongAdder bytesRead = new LongAdder();
    public final LongAdder bytesWritten = new LongAdder();
    public final LongAdder getMisses = new LongAdder();
    public final ClassCounter sets = new ClassCounter();
    public final ClassCounter touchHits = new ClassCounter();
    public final LongAdder touchMisses = new LongAdder();
    public final ClassCounter deleteHits = new ClassCounter();
    public final LongAdder deleteMisses = new LongAdder();
    public final ClassCounter incrHits = new ClassCounter();
    public final LongAdder incrMisses = new LongAdder();
    public final ClassCounter decrHits = new ClassCounter();
    public final LongAdder decrMisses = new LongAdder();
    public final ClassCounter casHits = new ClassCounter();
    public final LongAdder casMisses = new LongAdder();
    public final ClassCounter casBadValues = new ClassCounter();
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
            getMisses,
            touchMisses,
            deleteMisses,
            incrMisses,
            decrMisses,
            casMisses,
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
        for (ClassCounter each :
                new ClassCounter[] {sets, touchHits, deleteHits, incrHits, decrHits, casHits, casBadValues}) {
            each.reset();
        }
    }
}
