package org.softrdma.sim.rdmap;

import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.NearMemory;
import org.softrdma.sim.memory.RecentKeys;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.pinning.InUse;

/**
 * READs from memory of the peer that is near: this side copies, into memory of its own that it checks and pins as if the
 * bytes had come by the stream. Inside a batch of an epoch of the thread that calls.
 */
public final class NearReads {
    /** Most bytes of such a READ, so that a batch stays short; longer ones go by the stream. */
    private static final long MOST_BYTES = 1 << 20;

    /** Bytes after which an engine has done enough of them for a turn of a connection. */
    static final long TURN_BYTES = MOST_BYTES;

    private final RnicEngine engine;
    private final StagTable stags;
    private final NearMemory near;
    private final NearMemory.Reader reader;
    private final InUse inUse;
    private final int domain;
    private final RecentKeys recentLkeys;

    /**
     * Makes the READs of one thread at a time.
     *
     * @param engine of the queue pair
     * @param near memory of the peer
     * @param reader who calls
     * @param inUse memory that must not be unpinned meanwhile
     * @param domain of the queue pair
     */
    public NearReads(RnicEngine engine, NearMemory near, NearMemory.Reader reader, InUse inUse, int domain) {
        this.engine = engine;
        this.near = near;
        this.reader = reader;
        this.inUse = inUse;
        this.domain = domain;
        stags = engine.stags();
        recentLkeys = stags.recentLkeys();
    }

    /** True if a READ can probably be done here. */
    boolean covers(int rkey, long address, long length) {
        return length > 0 && length <= MOST_BYTES && near.covers(rkey, address, length);
    }

    /**
     * Does a READ, if it can be done here.
     *
     * @param lkey key of the sink
     * @param sink its first address, as scatter/gather entries name it
     * @param rkey the peer's key
     * @param address first address at the peer
     * @param length bytes
     * @return false if it has to go by the stream
     */
    public boolean read(int lkey, long sink, int rkey, long address, long length) {
        return readInto(stags.findLocal(recentLkeys, lkey), sink, rkey, address, length);
    }

    /**
     * Does a READ, if it can be done here, into a region whose row is known.
     *
     * @param row of the region
     * @param lkey its key
     * @param sink its first address, as scatter/gather entries name it
     * @param rkey the peer's key
     * @param address first address at the peer
     * @param length bytes
     * @return false if it has to go by the stream
     */
    public boolean read(int row, int lkey, long sink, int rkey, long address, long length) {
        return readInto(stags.findLocal(row, lkey), sink, rkey, address, length);
    }

    private boolean readInto(int row, long sink, int rkey, long address, long length) {
        if (length <= 0 || length > MOST_BYTES) {
            return false;
        }
        if (stags.check(row, domain, AccessRights.LOCAL_WRITE, sink, length) != AccessResult.GRANTED
                || stags.isPolled(row)) {
            return false; // the stream fails it in its turn, or moves it by whole words
        }
        long raw = stags.rawAddress(row, sink);
        if (!engine.isReady(row, raw, length)) {
            if (!near.covers(rkey, address, length)) {
                return false; // and nothing is pinned for it
            }
            engine.use(row, raw, length, inUse);
        }
        return near.read(reader, rkey, address, raw, length);
    }
}
