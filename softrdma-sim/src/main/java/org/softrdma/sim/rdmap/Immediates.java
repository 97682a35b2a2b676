package org.softrdma.sim.rdmap;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.SegmentCounters;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.queue.ReceiveQueue;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.RdmapOpcode;
import org.softrdma.sim.wire.Rfc7306;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.SendFlags;

/**
 * WRITE with immediate: a WRITE, and right behind it Immediate Data on queue 0, which consumes a RECV and puts nothing
 * into its buffer (RFC 7306 section 6). One request of the send queue, done when the second has gone to TCP. Engine
 * thread only.
 */
final class Immediates {
    private final StreamParts parts;
    private final Counters<Counter> counters;
    private final SegmentCounters segments;
    private final SendQueue requests;
    private final ReceiveQueue receives;
    private final FpduWriter fpdus;
    private final RequestPayload payload;
    private final Writes writes;
    private final Sends sends;
    private boolean used;

    // The message being received.
    private int immediate;
    private boolean solicited;

    Immediates(StreamParts parts, RequestPayload payload, Writes writes, Sends sends) {
        this.parts = parts;
        this.payload = payload;
        this.writes = writes;
        this.sends = sends;
        counters = parts.engine().counters();
        segments = parts.fpdus().segments();
        requests = parts.endpoint().sends();
        receives = parts.endpoint().receives();
        fpdus = parts.fpdus();
    }

    // ---- requester

    /** True if this side has sent one. */
    boolean isUsed() {
        return used;
    }

    /** Adds the next segment of the request at the cursor: of its WRITE, or the Immediate Data. */
    Added add(long sequence, int slot) {
        if (payload.offset() != RequestPayload.BEHIND) {
            return writes.addFirst(sequence, slot);
        }
        if (!fpdus.hasRoom(Rfc7306.IMMEDIATE_END, 0, true, 0)) {
            return Added.NO_ROOM;
        }
        used = true;
        long at = fpdus.begin(Rfc7306.IMMEDIATE_END, 0, true);
        Rfc7306.putImmediate(
                at, requests.hasFlag(slot, SendFlags.SOLICITED), sends.takeMsn(), requests.immediate(slot));
        fpdus.end(MessageKind.IMMEDIATE, sequence, RequestPayload.BEHIND, true, null);
        payload.offset(0);
        requests.cursor(sequence + 1);
        return Added.YES;
    }

    // ---- responder

    boolean begin(long fpdu, int length, boolean last, int opcode) {
        segments.received(MessageKind.IMMEDIATE);
        if (length != Rfc7306.IMMEDIATE_LENGTH || !last) {
            return parts.protocolError(TerminateCause.RDMAP_UNSPECIFIED, fpdu);
        }
        if (!sends.isNextMessage(fpdu)) {
            return false;
        }
        immediate = NativeMemory.getInt(fpdu + Rfc7306.IMMEDIATE_OFFSET);
        solicited = opcode == RdmapOpcode.IMMEDIATE_SOLICITED;
        return true;
    }

    void done() {
        counters.increment(Counter.RESPONDER_IMMEDIATES);
        sends.messageReceived();
        receives.completeImmediate(writes.takeWritten(), immediate, solicited);
    }
}
