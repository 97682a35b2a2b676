package org.softrdma.sim.rdmap;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.SegmentCounters;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.Placement;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.memory.StreamWindows;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.RdmapOpcode;
import org.softrdma.sim.wire.TerminateCause;

/** WRITE: tagged segments into the peer's memory. Without an answer, done when it has gone to TCP. Engine thread only. */
final class Writes {
    private final StreamParts parts;
    private final Counters<Counter> counters;
    private final SegmentCounters segments;
    private final StagTable stags;
    private final SendQueue sends;
    private final RequestPayload payload;
    private final Placement placement;
    private final int domain;
    private final StreamWindows windows;

    private boolean last;
    /** Bytes of the WRITE that is being received. */
    private long bytes;
    /** Bytes of the last WRITE that was received. */
    private long written;
    /** The first one will be the initiator's ready-to-receive. */
    private boolean readyExpected;
    /** This one says that the initiator is ready, for the first time or again. */
    private boolean ready;

    Writes(StreamParts parts, RequestPayload payload) {
        this.parts = parts;
        this.payload = payload;
        counters = parts.engine().counters();
        segments = parts.fpdus().segments();
        stags = parts.engine().stags();
        sends = parts.endpoint().sends();
        placement = parts.placement();
        domain = parts.endpoint().domain();
        windows = parts.endpoint().windows();
    }

    // ---- requester

    /** Adds the next segment of the request at the cursor. */
    Added add(long sequence, int slot) {
        Added prepared = payload.prepare(slot, Ddp.TAGGED_HEADER_LENGTH);
        if (prepared == Added.YES) {
            putHeader(slot);
            payload.end(MessageKind.WRITE, sequence);
        }
        return prepared;
    }

    /** As {@link #add}, of a request whose WRITE is followed by an immediate. */
    Added addFirst(long sequence, int slot) {
        Added prepared = payload.prepare(slot, Ddp.TAGGED_HEADER_LENGTH);
        if (prepared == Added.YES) {
            putHeader(slot);
            payload.endFirst(MessageKind.WRITE, sequence);
        }
        return prepared;
    }

    private void putHeader(int slot) {
        long at = payload.begin(Ddp.TAGGED_HEADER_LENGTH);
        long remote = sends.remoteAddress(slot) + payload.offset();
        Ddp.putTagged(at, RdmapOpcode.WRITE, payload.isLast(), sends.rkey(slot), remote, payload.length());
    }

    // ---- responder

    /** The first message will be the initiator's ready-to-receive, a WRITE of no bytes that is not the application's. */
    void expectReadyToReceive() {
        readyExpected = true;
    }

    boolean begin(long fpdu, int length, boolean lastSegment) {
        segments.received(MessageKind.WRITE);
        last = lastSegment;
        ready = length == 0 && (readyExpected || namesNothing(fpdu));
        readyExpected = false;
        placement.begin(length);
        if (length > 0) {
            long taggedOffset = NativeMemory.getLong(fpdu + Ddp.TAGGED_OFFSET_OFFSET);
            int row = stags.findRemote(NativeMemory.getInt(fpdu + Ddp.STAG_OFFSET));
            AccessResult result = stags.check(row, domain, AccessRights.REMOTE_WRITE, taggedOffset, length);
            if (result == AccessResult.WRONG_DOMAIN) {
                result = windows.check(row, AccessRights.REMOTE_WRITE, taggedOffset, length);
            }
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
        bytes += placement.payload();
        if (last) {
            written = bytes;
            bytes = 0;
            if (!ready) {
                counters.increment(Counter.RESPONDER_WRITES);
            }
        }
    }

    /** Bytes of the last WRITE, to which an immediate belongs; once. */
    long takeWritten() {
        long taken = written;
        written = 0;
        return taken;
    }
}
