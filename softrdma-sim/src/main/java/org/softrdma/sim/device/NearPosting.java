package org.softrdma.sim.device;

import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.NearMemory;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.pinning.InUse;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.rdmap.NearReads;
import org.softrdma.sim.samehost.PeerMemory;
import org.softrdma.sim.samehost.RecentPages;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;

/** READs that the posting thread does itself. Under the lock of the send queue. */
final class NearPosting {
    /** READs of a list: so many that their bytes fit into the second cache. */
    private static final int MOST_FETCHED = 128;

    private final PeerMemory peer;
    private final Quiescence.Epoch epoch;
    private final NearReads reads;
    private final RecentPages recent = new RecentPages();
    /** Means nothing; but it must be kept. */
    int fetched;

    NearPosting(RnicEngine engine, PeerMemory peer, int domain) {
        this.peer = peer;
        epoch = peer.epoch();
        reads = new NearReads(engine, peer, NearMemory.Reader.POSTING, InUse.NOTHING, domain);
    }

    PeerMemory peer() {
        return peer;
    }

    /**
     * Has the processor fetch what the READs of a list will copy, if they can be done here now, but not what is probably in
     * its cache. Nothing else is checked.
     *
     * @param requests not checked
     * @param sends their queue
     */
    void fetch(SendWorkRequestList requests, SendQueue sends) {
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

    /** True if its bytes are probably in the processor's cache, because READs of late were of that page. Now this one is. */
    private boolean wasJustRead(SendWorkRequest request) {
        return request.local().length(0) <= RecentPages.PAGE
                && recent.isRecent(request.rkey(), request.remoteAddress());
    }

    /**
     * Does a request now, if it is a READ that can be done here and nothing before it is under way.
     *
     * @param request checked
     * @param sends its queue
     * @return true if its completion was pushed; false if it has to be posted
     */
    boolean read(SendWorkRequest request, SendQueue sends) {
        ScatterGatherList local = request.local();
        if (request.opcode() != SendOpcode.READ || local.size() != 1 || !isTurn(sends)) {
            return false;
        }
        long length = local.length(0);
        boolean done;
        epoch.enter();
        try {
            done = reads.read(local.lkey(0), local.address(0), request.rkey(), request.remoteAddress(), length);
        } finally {
            epoch.exit();
        }
        if (done) {
            sends.completeNear(request.wrId(), request.flags(), length);
        }
        return done;
    }

    /**
     * The same for a READ into one region.
     *
     * @param local region of the sink
     * @param offset bytes from its start
     * @param length checked
     */
    boolean read(
            long wrId,
            SoftMemoryRegion local,
            long offset,
            long length,
            long remoteAddress,
            int rkey,
            int flags,
            SendQueue sends) {
        if (!isTurn(sends)) {
            return false;
        }
        boolean done;
        epoch.enter();
        try {
            done = reads.read(local.row(), local.lkey(), local.address() + offset, rkey, remoteAddress, length);
        } finally {
            epoch.exit();
        }
        if (done) {
            sends.completeNear(wrId, flags, length);
        }
        return done;
    }

    private static boolean isTurn(SendQueue sends) {
        return sends.isSettled() && sends.hasRoom();
    }
}
