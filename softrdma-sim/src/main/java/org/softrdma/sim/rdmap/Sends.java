package org.softrdma.sim.rdmap;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.SegmentCounters;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.Placement;
import org.softrdma.sim.link.WindowRequests;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.EntryTable;
import org.softrdma.sim.queue.ReceiveQueue;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.RdmapOpcode;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;

/**
 * SEND: untagged segments on queue 0 into the peer's RECVs, in order. There is no answer: a SEND is done when TCP has
 * taken it. Engine thread only.
 */
final class Sends {
    private final StreamParts parts;
    private final Counters<Counter> counters;
    private final SegmentCounters segments;
    private final StagTable stags;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final RequestPayload payload;
    private final WindowRequests windows;
    private final Placement placement;
    /** Of the RECVs. */
    private final int domain;

    /** Message sequence number of the next one sent. */
    private int sendMsn = 1;

    // The message being received.
    private int receiveMsn = 1;
    private long receiveOffset;
    /** Segments of it have come, perhaps empty ones, but not the last. */
    private boolean begun;

    private boolean last;
    private boolean solicited;
    /** The message invalidates {@link #invalidKey}. */
    private boolean invalidating;

    private int invalidKey;

    Sends(StreamParts parts, RequestPayload payload, WindowRequests windows) {
        this.parts = parts;
        this.payload = payload;
        this.windows = windows;
        counters = parts.engine().counters();
        segments = parts.fpdus().segments();
        stags = parts.engine().stags();
        sends = parts.endpoint().sends();
        receives = parts.endpoint().receives();
        placement = parts.placement();
        domain = receives.domain(parts.endpoint().domain());
    }

    // ---- requester

    /** Adds the next segment of the request at the cursor. */
    Added add(long sequence, int slot) {
        Added prepared = payload.prepare(slot, Ddp.UNTAGGED_HEADER_LENGTH);
        if (prepared == Added.YES) {
            long at = payload.begin(Ddp.UNTAGGED_HEADER_LENGTH);
            boolean isSolicited = sends.hasFlag(slot, SendFlags.SOLICITED);
            boolean invalidates = sends.opcode(slot) == SendOpcode.SEND_INVALIDATE;
            boolean lastSegment = payload.isLast();
            int opcode = opcode(isSolicited, invalidates);
            Ddp.putUntagged(at, opcode, lastSegment, Ddp.QUEUE_SEND, sendMsn, (int) payload.offset(), payload.length());
            if (invalidates) {
                NativeMemory.putInt(at + Ddp.STAG_OFFSET, sends.rkey(slot));
            }
            payload.end(MessageKind.SEND, sequence);
            sendMsn += lastSegment ? 1 : 0;
        }
        return prepared;
    }

    /** The number of the next message on queue 0, which is not a SEND. */
    int takeMsn() {
        return sendMsn++;
    }

    private static int opcode(boolean solicited, boolean invalidates) {
        if (invalidates) {
            return solicited ? RdmapOpcode.SEND_SOLICITED_INVALIDATE : RdmapOpcode.SEND_INVALIDATE;
        }
        return solicited ? RdmapOpcode.SEND_SOLICITED : RdmapOpcode.SEND;
    }

    /** A segment was taken back. */
    void takeBack(boolean lastSegment) {
        sendMsn -= lastSegment ? 1 : 0;
    }

    // ---- responder

    boolean begin(long fpdu, int length, boolean lastSegment, int opcode) {
        segments.received(MessageKind.SEND);
        last = lastSegment;
        if (!isNext(fpdu, (int) receiveOffset)) {
            return false;
        }
        if (receiveOffset + length > receives.entries().total(receives.slot())) {
            receives.fail(CompletionStatus.LOCAL_LENGTH_ERROR, TerminateCause.DDP_TOO_LONG.code());
            return parts.protocolError(TerminateCause.DDP_TOO_LONG, fpdu);
        }
        solicited = opcode == RdmapOpcode.SEND_SOLICITED || opcode == RdmapOpcode.SEND_SOLICITED_INVALIDATE;
        invalidating = opcode == RdmapOpcode.SEND_INVALIDATE || opcode == RdmapOpcode.SEND_SOLICITED_INVALIDATE;
        if (invalidating) {
            invalidKey = NativeMemory.getInt(fpdu + Ddp.STAG_OFFSET);
            if (!windows.canInvalidate(invalidKey)) {
                return cannotInvalidate(fpdu);
            }
        }
        placement.begin(length);
        return true;
    }

    /**
     * True if a segment on queue 0 has the number and the offset that are due, and a RECV is there; else the stream goes
     * down.
     */
    private boolean isNext(long fpdu, int offset) {
        if (NativeMemory.getInt(fpdu + Ddp.MSN_OFFSET) != receiveMsn) {
            return parts.protocolError(TerminateCause.DDP_MSN_RANGE, fpdu);
        }
        if (!receives.hasNext()) {
            return parts.protocolError(TerminateCause.DDP_NO_BUFFER, fpdu);
        }
        return NativeMemory.getInt(fpdu + Ddp.MESSAGE_OFFSET_OFFSET) == offset
                || parts.protocolError(TerminateCause.DDP_MESSAGE_OFFSET, fpdu);
    }

    /** True if a message on queue 0 that is not a SEND is the next one, and a RECV is there; else the stream goes down. */
    boolean isNextMessage(long fpdu) {
        return isNext(fpdu, 0) && (!begun || parts.protocolError(TerminateCause.DDP_MESSAGE_OFFSET, fpdu));
    }

    /** A message on queue 0 that is not a SEND has consumed its RECV. */
    void messageReceived() {
        receiveMsn++;
    }

    /** RFC 5040 section 5.3: the STag is not one of this stream. Always false. */
    private boolean cannotInvalidate(long fpdu) {
        TerminateCause cause = TerminateCause.RDMAP_CANNOT_INVALIDATE;
        receives.fail(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR, cause.code());
        return parts.accessError(cause, fpdu);
    }

    /** The next entry of the RECV. */
    boolean nextRun() {
        EntryTable entries = receives.entries();
        int slot = receives.slot();
        long skip = receiveOffset + placement.placed();
        int entry = 0;
        while (skip >= entries.length(slot, entry)) {
            skip -= entries.length(slot, entry);
            entry++;
        }
        int here = (int) Math.min(placement.left(), entries.length(slot, entry) - skip);
        long address = entries.address(slot, entry) + skip;
        int row = stags.findLocal(entries.lkey(slot, entry));
        if (stags.check(row, domain, AccessRights.LOCAL_WRITE, address, here) != AccessResult.GRANTED) {
            runGone();
            return false;
        }
        placement.run(row, address, here);
        return true;
    }

    void runGone() {
        receives.fail(CompletionStatus.LOCAL_PROTECTION_ERROR, 0);
        parts.events().terminate(TerminateCause.RDMAP_STREAM_CATASTROPHIC, 0);
    }

    void done() {
        receiveOffset += placement.payload();
        begun = !last;
        if (last) {
            if (!placement.complete()) {
                runGone();
                return;
            }
            if (invalidating && !windows.invalidate(invalidKey)) {
                boolean ignored = cannotInvalidate(0); // this side has taken it back since the segment began
                return;
            }
            counters.increment(Counter.RESPONDER_SENDS);
            receiveMsn++;
            long length = receiveOffset;
            receiveOffset = 0;
            if (invalidating) {
                receives.completeInvalidating(length, solicited, invalidKey);
            } else {
                receives.complete(length, solicited);
            }
        }
    }
}
