package org.softrdma.sim.device;

import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.NearMemory;
import org.softrdma.sim.pinning.InUse;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.rdmap.NearReads;
import org.softrdma.sim.samehost.PeerMemory;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;

/** READs that the posting thread does itself. Under the lock of the send queue. */
final class NearPosting {
    private final PeerMemory peer;
    private final NearReads reads;

    NearPosting(RnicEngine engine, PeerMemory peer, int domain) {
        this.peer = peer;
        reads = new NearReads(engine, peer, NearMemory.Reader.POSTING, InUse.NOTHING, domain);
    }

    PeerMemory peer() {
        return peer;
    }

    /**
     * Does a request now, if it is a READ that can be done here and nothing before it is under way.
     *
     * @param request checked
     * @param sends its queue
     * @return true if its completion was pushed; false if it has to be posted
     */
    boolean read(SendWorkRequest request, SendQueue sends) {
        if (request.opcode() != SendOpcode.READ || !sends.isSettled() || !sends.hasRoom()) {
            return false;
        }
        ScatterGatherList local = request.local();
        if (local.size() != 1) {
            return false;
        }
        long length = local.length(0);
        boolean done;
        peer.epoch().enter();
        try {
            done = reads.read(local.lkey(0), local.address(0), request.rkey(), request.remoteAddress(), length);
        } finally {
            peer.epoch().exit();
        }
        if (done) {
            sends.completeNear(request.wrId(), request.flags(), length);
        }
        return done;
    }
}
