package org.softrdma.sim.rdmap;

import org.softrdma.sim.carrier.Placement;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.EngineCounters;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.RdmapOpcode;
import org.softrdma.sim.wire.TerminateCause;

/** WRITE: tagged segments into the peer's memory. Without an answer, done when it has gone to TCP. Engine thread only. */
final class Writes {
    private final StreamParts parts;
    private final EngineCounters counters;
    private final StagTable stags;
    private final SendQueue sends;
    private final RequestPayload payload;
    private final Placement placement;
    private final int domain;

    private boolean last;
    /** The first one will be the initiator's ready-to-receive. */
    private boolean readyExpected;
    /** This one says that the initiator is ready, for the first time or again. */
    private boolean ready;

    Writes(StreamParts parts, RequestPayload payload) {
        this.parts = parts;
        this.payload = payload;
        counters = parts.engine().counters();
        stags = parts.engine().stags();
        sends = parts.endpoint().sends();
        placement = parts.placement();
        domain = parts.endpoint().domain();
    }

    // ---- requester

    /** Adds the next segment of the request at the cursor. */
    Added add(long sequence, int slot) {
        Added prepared = payload.prepare(slot, Ddp.TAGGED_HEADER_LENGTH);
        if (prepared == Added.YES) {
            long at = payload.begin(Ddp.TAGGED_HEADER_LENGTH);
            long remote = sends.remoteAddress(slot) + payload.offset();
            Ddp.putTagged(at, RdmapOpcode.WRITE, payload.isLast(), sends.rkey(slot), remote, payload.length());
            payload.end(MessageKind.WRITE, sequence);
        }
        return prepared;
    }

    // ---- responder

    /** The first message will be the initiator's ready-to-receive, a WRITE of no bytes that is not the application's. */
    void expectReadyToReceive() {
        readyExpected = true;
    }

    boolean begin(long fpdu, int length, boolean lastSegment) {
        counters.received(MessageKind.WRITE);
        last = lastSegment;
        ready = length == 0 && (readyExpected || namesNothing(fpdu));
        readyExpected = false;
        placement.begin(length);
        if (length > 0) {
            long taggedOffset = NativeMemory.getLong(fpdu + Ddp.TAGGED_OFFSET_OFFSET);
            int row = stags.findRemote(NativeMemory.getInt(fpdu + Ddp.STAG_OFFSET));
            AccessResult result = stags.check(row, domain, AccessRights.REMOTE_WRITE, taggedOffset, length);
            if (result != AccessResult.GRANTED) {
                return parts.accessError(AccessCauses.tagged(result), fpdu);
            }
            placement.run(row, taggedOffset, length);
        }
        return true;
    }

    /** An initiator whose peer is silent says again that it is ready (docs/reference/wire.md): that is no WRITE of the application either. */
    private static boolean namesNothing(long fpdu) {
        return NativeMemory.getInt(fpdu + Ddp.STAG_OFFSET) == 0
                && NativeMemory.getLong(fpdu + Ddp.TAGGED_OFFSET_OFFSET) == 0;
    }

    void runGone() {
        parts.accessError(TerminateCause.DDP_INVALID_STAG, 0);
    }

    void done() {
        if (last && !placement.complete()) {
            runGone();
            return;
        }
        counters.add(Counter.RESPONDER_WRITE_BYTES, placement.payload());
        if (last && !ready) {
            counters.increment(Counter.RESPONDER_WRITES);
        }
    }
}
