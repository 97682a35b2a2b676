package org.softrdma.sim.rdmap;

import org.softrdma.sim.carrier.Placement;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.EngineCounters;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.NativeMemory;
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

/**
 * SEND: untagged segments on queue 0 into the peer's RECVs, in order. There is no answer: a SEND is done when TCP has
 * taken it. Engine thread only.
 */
final class Sends {
    private final StreamParts parts;
    private final EngineCounters counters;
    private final StagTable stags;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final RequestPayload payload;
    private final Placement placement;
    private final int domain;

    /** Message sequence number of the next one sent. */
    private int sendMsn = 1;

    // The message being received.
    private int receiveMsn = 1;
    private long receiveOffset;
    private boolean last;
    private boolean solicited;

    Sends(StreamParts parts, RequestPayload payload) {
        this.parts = parts;
        this.payload = payload;
        counters = parts.engine().counters();
        stags = parts.engine().stags();
        sends = parts.endpoint().sends();
        receives = parts.endpoint().receives();
        placement = parts.placement();
        domain = parts.endpoint().domain();
    }

    // ---- requester

    /** Adds the next segment of the request at the cursor. */
    Added add(long sequence, int slot) {
        Added prepared = payload.prepare(slot, Ddp.UNTAGGED_HEADER_LENGTH);
        if (prepared == Added.YES) {
            long at = payload.begin(Ddp.UNTAGGED_HEADER_LENGTH);
            int opcode = sends.hasFlag(slot, SendFlags.SOLICITED) ? RdmapOpcode.SEND_SOLICITED : RdmapOpcode.SEND;
            boolean lastSegment = payload.isLast();
            Ddp.putUntagged(at, opcode, lastSegment, Ddp.QUEUE_SEND, sendMsn, (int) payload.offset(), payload.length());
            payload.end(MessageKind.SEND, sequence);
            sendMsn += lastSegment ? 1 : 0;
        }
        return prepared;
    }

    /** A segment was taken back. */
    void takeBack(boolean lastSegment) {
        sendMsn -= lastSegment ? 1 : 0;
    }

    // ---- responder

    boolean begin(long fpdu, int length, boolean lastSegment, int opcode) {
        counters.received(MessageKind.SEND);
        last = lastSegment;
        if (NativeMemory.getInt(fpdu + Ddp.MSN_OFFSET) != receiveMsn) {
            return parts.protocolError(TerminateCause.DDP_MSN_RANGE, fpdu);
        }
        if (!receives.hasNext()) {
            return parts.protocolError(TerminateCause.DDP_NO_BUFFER, fpdu);
        }
        if (NativeMemory.getInt(fpdu + Ddp.MESSAGE_OFFSET_OFFSET) != (int) receiveOffset) {
            return parts.protocolError(TerminateCause.DDP_MESSAGE_OFFSET, fpdu);
        }
        if (receiveOffset + length > receives.entries().total(receives.slot())) {
            receives.fail(CompletionStatus.LOCAL_LENGTH_ERROR, TerminateCause.DDP_TOO_LONG.code());
            return parts.protocolError(TerminateCause.DDP_TOO_LONG, fpdu);
        }
        solicited = opcode == RdmapOpcode.SEND_SOLICITED;
        placement.begin(length);
        return true;
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
        if (last) {
            if (!placement.complete()) {
                runGone();
                return;
            }
            counters.increment(Counter.RESPONDER_SENDS);
            receiveMsn++;
            long length = receiveOffset;
            receiveOffset = 0;
            receives.complete(length, solicited);
        }
    }
}
