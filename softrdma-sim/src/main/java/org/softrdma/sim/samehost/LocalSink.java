package org.softrdma.sim.samehost;

import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.RecentKeys;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.pinning.InUse;

/**
 * READs of one thread from shared memory into memory of this side, which is checked and pinned as if the bytes had come
 * by the wire. Inside a batch of an epoch of that thread.
 */
final class LocalSink {
    /** Most bytes of such a READ, so that a batch stays short; longer ones go by the wire. */
    static final long MOST_BYTES = 1 << 20;

    private final RnicEngine engine;
    private final StagTable stags;
    private final PeerMemory peer;
    private final ReadingThread reader;
    private final InUse inUse;
    private final int domain;
    private final RecentKeys recentLkeys;

    /**
     * Makes the READs of one thread.
     *
     * @param engine of the queue pair
     * @param peer what is read
     * @param reader the thread
     * @param inUse memory that must not be unpinned meanwhile
     * @param domain of the queue pair
     */
    LocalSink(RnicEngine engine, PeerMemory peer, ReadingThread reader, InUse inUse, int domain) {
        this.engine = engine;
        this.peer = peer;
        this.reader = reader;
        this.inUse = inUse;
        this.domain = domain;
        stags = engine.stags();
        recentLkeys = stags.recentLkeys();
    }

    /**
     * Does a READ, if it can be done here.
     *
     * @param lkey key of the sink
     * @param sink its first address, as scatter/gather entries name it
     * @param rkey the peer's key
     * @param address first address at the peer
     * @param length bytes
     * @return false if it has to go by the wire
     */
    boolean read(int lkey, long sink, int rkey, long address, long length) {
        if (length <= 0 || length > MOST_BYTES) {
            return false;
        }
        int row = stags.findLocal(recentLkeys, lkey);
        if (stags.check(row, domain, AccessRights.LOCAL_WRITE, sink, length) != AccessResult.GRANTED
                || stags.isPolled(row)) {
            return false; // the wire fails it in its turn, or moves it by whole words
        }
        long raw = stags.rawAddress(row, sink);
        if (!engine.isReady(row, raw, length)) {
            if (!peer.covers(rkey, address, length)) {
                return false; // and nothing is pinned for it
            }
            engine.use(row, raw, length, inUse);
        }
        return peer.read(reader, rkey, address, raw, length);
    }
}
