package org.softrdma.sim.rdmap;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.SegmentSink;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.RdmapOpcode;
import org.softrdma.sim.wire.Rfc7306;
import org.softrdma.sim.wire.Terminate;
import org.softrdma.sim.wire.TerminateCause;

/**
 * The messages that a stream receives: checks what all headers have in common, and gives each segment to its kind. Engine thread
 * only.
 */
public final class Incoming implements SegmentSink {
    private final StreamParts parts;
    private final OutboundReadQueue outboundReads;
    private final Writes writes;
    private final Sends sends;
    private final Reads reads;
    private final ReadResponses readResponses;
    private final Immediates immediates;
    private final Atomics atomics;
    private final AtomicResponses atomicResponses;
    private final Terminates terminates;
    /** The device speaks RFC 7306. */
    private final boolean extended;

    private final int highestQueue;

    /** Of the segment being received. */
    private MessageKind kind = MessageKind.READ_REQUEST;

    /** With the kinds of the other direction. */
    Incoming(StreamParts parts, Outgoing outgoing) {
        this.parts = parts;
        writes = outgoing.writes();
        sends = outgoing.sends();
        reads = outgoing.reads();
        readResponses = outgoing.readResponses();
        immediates = outgoing.immediates();
        atomics = outgoing.atomics();
        atomicResponses = outgoing.atomicResponses();
        terminates = outgoing.terminates();
        extended = parts.endpoint().rfc7306();
        highestQueue = extended ? Ddp.QUEUE_ATOMIC_RESPONSE : Ddp.QUEUE_TERMINATE;
        outboundReads = parts.endpoint().outboundReads();
    }

    @Override
    public int headerLength(int control) {
        if ((control & Ddp.TAGGED) != 0) {
            return Ddp.TAGGED_HEADER_LENGTH;
        }
        return switch (control & Ddp.OPCODE_MASK) {
            case RdmapOpcode.READ_REQUEST -> Ddp.READ_REQUEST_END;
            case RdmapOpcode.TERMINATE -> Short.BYTES + Terminate.MAX_ULPDU;
            case RdmapOpcode.IMMEDIATE, RdmapOpcode.IMMEDIATE_SOLICITED -> extendedEnd(Rfc7306.IMMEDIATE_END);
            case RdmapOpcode.ATOMIC_REQUEST -> extendedEnd(Rfc7306.REQUEST_END);
            case RdmapOpcode.ATOMIC_RESPONSE -> extendedEnd(Rfc7306.RESPONSE_END);
            default -> Ddp.UNTAGGED_HEADER_LENGTH;
        };
    }

    private int extendedEnd(int end) {
        return extended ? end : Ddp.UNTAGGED_HEADER_LENGTH;
    }

    @Override
    public boolean begin(long fpdu, int ulpdu, int control) {
        boolean tagged = (control & Ddp.TAGGED) != 0;
        int payload = ulpdu - ((tagged ? Ddp.TAGGED_HEADER_LENGTH : Ddp.UNTAGGED_HEADER_LENGTH) - Short.BYTES);
        if (payload < 0) {
            return parts.protocolError(TerminateCause.RDMAP_UNSPECIFIED, 0);
        }
        if ((control & Ddp.DDP_VERSION_MASK) != Ddp.DDP_VERSION) {
            return parts.protocolError(
                    tagged ? TerminateCause.DDP_TAGGED_VERSION : TerminateCause.DDP_UNTAGGED_VERSION, fpdu);
        }
        if ((control & Ddp.RDMAP_VERSION_MASK) != Ddp.RDMAP_VERSION) {
            return parts.protocolError(TerminateCause.RDMAP_VERSION, fpdu);
        }
        boolean last = (control & Ddp.LAST) != 0;
        int opcode = control & Ddp.OPCODE_MASK;
        return tagged ? beginTagged(fpdu, payload, last, opcode) : beginUntagged(fpdu, payload, last, opcode);
    }

    private boolean beginTagged(long fpdu, int payload, boolean last, int opcode) {
        return switch (opcode) {
            case RdmapOpcode.WRITE -> {
                kind = MessageKind.WRITE;
                yield writes.begin(fpdu, payload, last);
            }
            case RdmapOpcode.READ_RESPONSE -> {
                kind = MessageKind.READ_RESPONSE;
                yield reads.begin(fpdu, payload, last);
            }
            default -> parts.protocolError(TerminateCause.RDMAP_OPCODE, fpdu);
        };
    }

    private boolean beginUntagged(long fpdu, int payload, boolean last, int opcode) {
        int queue = NativeMemory.getInt(fpdu + Ddp.QUEUE_NUMBER_OFFSET);
        if (Integer.compareUnsigned(queue, highestQueue) > 0) {
            return parts.protocolError(TerminateCause.DDP_QUEUE_NUMBER, fpdu);
        }
        return switch (opcode) {
            case RdmapOpcode.READ_REQUEST -> {
                kind = MessageKind.READ_REQUEST;
                yield isOn(Ddp.QUEUE_READ_REQUEST, queue, fpdu) && readResponses.beginRequest(fpdu, payload, last);
            }
            case RdmapOpcode.SEND,
                    RdmapOpcode.SEND_SOLICITED,
                    RdmapOpcode.SEND_INVALIDATE,
                    RdmapOpcode.SEND_SOLICITED_INVALIDATE -> {
                kind = MessageKind.SEND;
                yield isOn(Ddp.QUEUE_SEND, queue, fpdu) && sends.begin(fpdu, payload, last, opcode);
            }
            case RdmapOpcode.TERMINATE -> {
                kind = MessageKind.TERMINATE;
                yield isOn(Ddp.QUEUE_TERMINATE, queue, fpdu) && terminates.begin(fpdu);
            }
            default -> beginExtended(fpdu, payload, last, opcode, queue);
        };
    }

    private boolean beginExtended(long fpdu, int payload, boolean last, int opcode, int queue) {
        if (!extended) {
            return parts.protocolError(TerminateCause.RDMAP_OPCODE, fpdu);
        }
        return switch (opcode) {
            case RdmapOpcode.IMMEDIATE, RdmapOpcode.IMMEDIATE_SOLICITED -> {
                kind = MessageKind.IMMEDIATE;
                yield isOn(Ddp.QUEUE_SEND, queue, fpdu) && immediates.begin(fpdu, payload, last, opcode);
            }
            case RdmapOpcode.ATOMIC_REQUEST -> {
                kind = MessageKind.ATOMIC_REQUEST;
                yield isOn(Ddp.QUEUE_READ_REQUEST, queue, fpdu) && atomicResponses.beginRequest(fpdu, payload, last);
            }
            case RdmapOpcode.ATOMIC_RESPONSE -> {
                kind = MessageKind.ATOMIC_RESPONSE;
                yield isOn(Ddp.QUEUE_ATOMIC_RESPONSE, queue, fpdu) && atomics.begin(fpdu, payload, last);
            }
            default -> parts.protocolError(TerminateCause.RDMAP_OPCODE, fpdu);
        };
    }

    private boolean isOn(int expected, int queue, long fpdu) {
        return queue == expected || parts.protocolError(TerminateCause.DDP_QUEUE_NUMBER, fpdu);
    }

    @Override
    public boolean nextRun() {
        if (kind != MessageKind.SEND) {
            throw new IllegalStateException(kind + " has one run, and that is full");
        }
        return sends.nextRun();
    }

    @Override
    public void runGone() {
        switch (kind) {
            case SEND -> sends.runGone();
            case READ_RESPONSE -> reads.runGone();
            case WRITE -> writes.runGone();
            case READ_REQUEST, IMMEDIATE, ATOMIC_REQUEST, ATOMIC_RESPONSE, TERMINATE, READY_TO_RECEIVE ->
                throw new IllegalStateException(kind + " has no payload to place");
        }
    }

    @Override
    public void done() {
        switch (kind) {
            case WRITE -> writes.done();
            case READ_RESPONSE -> reads.done();
            case SEND -> sends.done();
            case IMMEDIATE -> immediates.done();
            case ATOMIC_RESPONSE -> atomics.done();
            case READ_REQUEST, ATOMIC_REQUEST, TERMINATE, READY_TO_RECEIVE -> {
                // Done when its header was seen.
            }
        }
    }

    @Override
    public long expectedPayload() {
        return reads.expected();
    }

    @Override
    public boolean expectsOnlyOne() {
        return outboundReads.hasOne();
    }
}
