package org.softrdma.sim.samehost;

import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.pinning.InUse;
import org.softrdma.sim.queue.EntryTable;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;

/**
 * The READs of a queue pair from memory that its peer shares. This class alone decides which READs need no wire, when
 * their turn is, and completes them; whatever carries the others knows nothing of the peer's memory.
 *
 * <p>A READ is done by the thread that posts it if everything before it is settled ({@link SendQueue#isSettled}): it
 * then has no slot, and its completion is there at once. Else it is posted, and the engine does it in its turn ({@link
 * #read}), unless it cannot be done here: then the wire carries it, and the peer says what is wrong.
 *
 * <p>Threads: {@link #post} and {@link #fetch} hold the lock of the send queue; the rest is the engine's.
 */
public final class SharedMemoryReads {
    /** Bytes after which an engine has done enough of them for a turn of a connection. */
    private static final long TURN_BYTES = LocalSink.MOST_BYTES;

    /** READs of a list: so many that their bytes fit into the second cache. */
    private static final int MOST_FETCHED = 128;

    private final PeerMemory peer;
    private final SendQueue sends;
    private final Quiescence.Epoch epoch;
    private final LocalSink ofPosting;
    private final LocalSink ofEngine;
    private final RecentPages recent = new RecentPages();
    /** Consumes prefetched bytes, so that the JIT keeps the loads. */
    int fetched;

    // Engine.
    private long turnBytesLeft;
    /** Sequence of a READ that the wire has to carry, or -1. */
    private long onWire = -1;

    /**
     * Of a queue pair.
     *
     * @param engine of the queue pair
     * @param peer what the peer shares
     * @param sends its requests
     * @param domain number of its protection domain
     */
    public SharedMemoryReads(RnicEngine engine, PeerMemory peer, SendQueue sends, int domain) {
        this.peer = peer;
        this.sends = sends;
        epoch = peer.epoch();
        ofPosting = new LocalSink(engine, peer, ReadingThread.POSTING, InUse.NOTHING, domain);
        ofEngine = new LocalSink(engine, peer, ReadingThread.ENGINE, engine.gathered(), domain);
    }

    /** What the peer shares. */
    public PeerMemory peer() {
        return peer;
    }

    // ---- posting

    /**
     * Prefetches the source bytes of a list of READs, where shared memory can serve them now and they are probably not in
     * the cache. Nothing else is checked.
     *
     * @param requests not checked
     */
    public void fetch(SendWorkRequestList requests) {
        if (requests.size() == 1 || !sends.isSettled()) {
            return;
        }
        epoch.enter();
        try {
            for (int i = 0; i < Math.min(requests.size(), MOST_FETCHED); i++) {
                SendWorkRequest request = requests.get(i);
                ScatterGatherList local = request.local();
                if (request.opcode() == SendOpcode.READ && local.size() == 1 && !wasJustRead(request)) {
                    fetched += peer.fetch(request.rkey(), request.remoteAddress(), local.length(0));
                }
            }
        } finally {
            epoch.exit();
        }
    }

    /** True if its bytes are probably in the processor's cache, because recent READs were of that page. Now this one is. */
    private boolean wasJustRead(SendWorkRequest request) {
        return request.local().length(0) <= RecentPages.PAGE
                && recent.isRecent(request.rkey(), request.remoteAddress());
    }

    /**
     * Does a request now, if it is a READ that can be done here and nothing before it is under way.
     *
     * @param request checked
     * @return true if its completion was pushed; false if it has to be posted
     */
    public boolean post(SendWorkRequest request) {
        ScatterGatherList local = request.local();
        if (request.opcode() != SendOpcode.READ || local.size() != 1 || !sends.isSettled() || !sends.hasRoom()) {
            return false;
        }
        long length = local.length(0);
        boolean done;
        epoch.enter();
        try {
            done = ofPosting.read(local.lkey(0), local.address(0), request.rkey(), request.remoteAddress(), length);
        } finally {
            epoch.exit();
        }
        if (done) {
            sends.completeOutOfBand(request.wrId(), request.flags(), length);
        }
        return done;
    }

    // ---- engine

    /** A turn of the connection begins. */
    public void beginTurn() {
        turnBytesLeft = TURN_BYTES;
    }

    /** True if this turn has read as much as it may. */
    public boolean isTurnOver() {
        return turnBytesLeft <= 0;
    }

    /**
     * True if the turn of the READ at the cursor has come, and it can perhaps be done here.
     *
     * @param answersAwaited requests of the queue wait for an answer of the peer
     */
    public boolean isNext(boolean answersAwaited) {
        return sends.cursor() != onWire && sends.isSettledAtCursor() && !answersAwaited;
    }

    /**
     * True if the wire must hold the READ at the cursor back until earlier READs are complete, so that a busy queue also
     * switches to shared memory. If there are none, it was posted after the engine has looked, and its
     * doorbell brings the next turn; or its turn was over.
     *
     * @param slot of the READ
     * @param answersAwaited requests of the queue wait for an answer of the peer
     */
    public boolean holds(int slot, boolean answersAwaited) {
        long length = sends.entries().total(slot);
        return sends.cursor() != onWire
                && (answersAwaited || sends.isSettledAtCursor())
                && length > 0
                && length <= LocalSink.MOST_BYTES
                && peer.covers(sends.rkey(slot), sends.remoteAddress(slot), length);
    }

    /**
     * Does the READ at the cursor here, if that is possible.
     *
     * @param slot of the READ
     * @return false if the wire has to carry it
     */
    public boolean read(int slot) {
        EntryTable entries = sends.entries();
        long length = entries.total(slot);
        boolean done = length > 0
                && ofEngine.read(
                        entries.lkey(slot, 0),
                        entries.address(slot, 0),
                        sends.rkey(slot),
                        sends.remoteAddress(slot),
                        length);
        onWire = done ? -1 : sends.cursor();
        turnBytesLeft -= done ? length : 0;
        return done;
    }
}
