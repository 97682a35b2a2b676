package org.softrdma.sim.rdmap;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.SegmentSource;
import org.softrdma.sim.link.LocalRequests;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.RdmapOpcode;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;

/**
 * The messages that a stream sends: responses, the requests of the send queue, and at the end a Terminate.
 * Messages are not interleaved; responses and requests take turns, a request after every three responses. Engine thread
 * only.
 */
public final class Outgoing implements SegmentSource {
    private static final int RESPONSES_PER_REQUEST = 3;

    private final StreamParts parts;
    private final FpduWriter fpdus;
    private final SendQueue queue;
    private final InboundReadQueue inboundReads;
    private final OutboundReadQueue outboundReads;
    private final RequestPayload payload;
    private final Writes writes;
    private final Sends sends;
    private final Reads reads;
    private final ReadResponses readResponses;
    private final Immediates immediates;
    private final Atomics atomics;
    private final AtomicResponses atomicResponses;
    private final Terminates terminates;
    private final LocalRequests local;

    private boolean requestsAllowed;
    private boolean readyToReceivePending;
    private int responsesInARow;
    /** Sequence of a request that cannot be executed, or -1. */
    private long faultSequence = -1;
    /** How it fails. */
    private CompletionStatus faultStatus = CompletionStatus.LOCAL_PROTECTION_ERROR;

    /** Makes the kinds, each of which sends something; {@link Incoming} takes them from here. */
    Outgoing(StreamParts parts) {
        this.parts = parts;
        payload = new RequestPayload(parts);
        writes = new Writes(parts, payload);
        local = parts.endpoint().local();
        sends = new Sends(parts, payload, local.windows());
        reads = new Reads(parts);
        readResponses = new ReadResponses(parts);
        immediates = new Immediates(parts, payload, writes, sends);
        atomics = new Atomics(parts);
        atomicResponses = new AtomicResponses(parts);
        terminates = new Terminates(parts, atomics, immediates);
        fpdus = parts.fpdus();
        queue = parts.endpoint().sends();
        inboundReads = parts.endpoint().inboundReads();
        outboundReads = parts.endpoint().outboundReads();
    }

    // ---- the kinds

    Writes writes() {
        return writes;
    }

    Sends sends() {
        return sends;
    }

    Reads reads() {
        return reads;
    }

    ReadResponses readResponses() {
        return readResponses;
    }

    Immediates immediates() {
        return immediates;
    }

    Atomics atomics() {
        return atomics;
    }

    AtomicResponses atomicResponses() {
        return atomicResponses;
    }

    Terminates terminates() {
        return terminates;
    }

    // ---- the connection

    /** From now on requests of the send queue may be sent. */
    public void allowRequests() {
        requestsAllowed = true;
    }

    /** Sends a zero-length WRITE next, between two messages (RFC 6581 section 9.2). */
    public void sendReadyToReceive() {
        readyToReceivePending = true;
    }

    /** Abandons the requests of the send queue, even one that was sent in part. */
    public void abandonRequests() {
        requestsAllowed = false;
        local.abandon();
        payload.offset(0);
        faultSequence = -1;
    }

    /** Abandons the READ responses, even one that was sent in part. */
    public void abandonResponses() {
        inboundReads.clear();
        readResponses.forget();
    }

    /** Abandons everything: nothing more is sent. */
    public void abandonAll() {
        readyToReceivePending = false;
        abandonRequests();
        abandonResponses();
    }

    /** True if this side ends the stream by a Terminate. */
    public boolean isTerminating() {
        return terminates.isQueued();
    }

    /** True once the Terminate is in a batch, until it is sent or taken back. */
    public boolean isTerminateStaged() {
        return terminates.isStaged();
    }

    /**
     * Queues a Terminate behind the READ responses that can still be sent; nothing else is sent any more. Requests must
     * be abandoned before.
     *
     * @param cause why
     * @param segment FPDU of the segment that was wrong, its header complete, or 0
     */
    public void queueTerminate(TerminateCause cause, long segment) {
        terminates.queue(cause, segment);
    }

    /** Number of requests completed without sending; all precede the next one on the wire. */
    public long localRequests() {
        return local.count();
    }

    // ---- the carrier

    @Override
    public boolean addNext() {
        if (readResponses.isMidMessage()) {
            return readResponses.add();
        }
        if (payload.isMidRequest()) {
            return addRequest();
        }
        if (readyToReceivePending) {
            return addReadyToReceive();
        }
        boolean response = inboundReads.hasUnsent();
        if (response && (responsesInARow < RESPONSES_PER_REQUEST || !mayRequest())) {
            responsesInARow++;
            return addResponse();
        }
        responsesInARow = 0;
        if (mayRequest()) {
            return addRequest();
        }
        return terminates.isWaiting() && terminates.add();
    }

    private boolean mayRequest() {
        if (!requestsAllowed || faultSequence >= 0 || !queue.hasUnsent()) {
            return false;
        }
        int slot = queue.slot(queue.cursor());
        if (isFenced(slot) || local.holds(slot, !outboundReads.isEmpty())) {
            return false;
        }
        return !queue.opcode(slot).isAnswered() || outboundReads.hasRoom();
    }

    private boolean isFenced(int slot) {
        return queue.hasFlag(slot, SendFlags.FENCE) && !outboundReads.isEmpty();
    }

    @Override
    public void beginTurn() {
        local.beginTurn();
        runLocal();
    }

    @Override
    public void batchSent() {
        runLocal();
    }

    /** Local requests also run before the peer's first message has arrived. */
    private void runLocal() {
        if (faultSequence < 0) {
            faultSequence = local.run(requestsAllowed, !outboundReads.isEmpty());
            if (faultSequence >= 0) {
                faultStatus = LocalRequests.failure(queue.opcode(queue.slot(faultSequence)));
            }
        }
    }

    /** True if there are requests that send nothing for another turn. */
    public boolean isLocalLeft() {
        return faultSequence < 0 && local.isLeft();
    }

    private boolean addResponse() {
        MessageKind kind = inboundReads.kind(inboundReads.slot(inboundReads.cursor()));
        return switch (kind) {
            case READ_RESPONSE -> readResponses.add();
            case ATOMIC_RESPONSE -> atomicResponses.add();
            case WRITE, SEND, READ_REQUEST, IMMEDIATE, ATOMIC_REQUEST, TERMINATE, READY_TO_RECEIVE ->
                throw new IllegalStateException(kind + " is no response");
        };
    }

    private boolean addRequest() {
        long sequence = queue.cursor();
        int slot = queue.slot(sequence);
        SendOpcode opcode = queue.opcode(slot);
        Added added = switch (opcode) {
            case READ -> reads.add(sequence, slot);
            case WRITE -> writes.add(sequence, slot);
            case SEND, SEND_INVALIDATE -> sends.add(sequence, slot);
            case WRITE_IMMEDIATE -> immediates.add(sequence, slot);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> atomics.add(sequence, slot);
            case BIND_WINDOW, INVALIDATE -> Added.NO_ROOM; // once the batch has gone, as a local request
            case SEND_IMMEDIATE ->
                throw new IllegalStateException(
                        opcode + " was posted, but the capabilities of this device do not offer it");
        };
        if (added == Added.NOT_ACCESSIBLE) {
            faultSequence = sequence;
            faultStatus = CompletionStatus.LOCAL_PROTECTION_ERROR;
        }
        return added == Added.YES;
    }

    private boolean addReadyToReceive() {
        if (!fpdus.hasRoom(Ddp.TAGGED_HEADER_LENGTH, 0, true, 0)) {
            return false;
        }
        readyToReceivePending = false;
        Ddp.putTagged(fpdus.begin(Ddp.TAGGED_HEADER_LENGTH, 0, true), RdmapOpcode.WRITE, true, 0, 0, 0);
        fpdus.end(MessageKind.READY_TO_RECEIVE, 0, 0, true, null);
        return true;
    }

    @Override
    public void sent(MessageKind kind, long sequence, boolean last) {
        switch (kind) {
            case READ_RESPONSE -> readResponses.sent(sequence, last);
            case ATOMIC_RESPONSE -> atomicResponses.sent();
            case WRITE, SEND, IMMEDIATE -> {
                if (last) {
                    parts.events().requestSent(sequence);
                }
            }
            case TERMINATE -> parts.events().terminateSent();
            case READY_TO_RECEIVE, READ_REQUEST, ATOMIC_REQUEST -> {
                // Nothing waits for these.
            }
        }
    }

    @Override
    public void takeBack(MessageKind kind, long sequence, long offset, boolean last, @Nullable Binding message) {
        switch (kind) {
            case READY_TO_RECEIVE -> readyToReceivePending = true;
            case READ_RESPONSE -> readResponses.takeBack(sequence, offset, message);
            case ATOMIC_RESPONSE -> atomicResponses.takeBack(sequence);
            case READ_REQUEST, WRITE, SEND, IMMEDIATE, ATOMIC_REQUEST -> {
                if (requestsAllowed) {
                    takeBackRequest(kind, sequence, offset, last);
                }
            }
            case TERMINATE -> terminates.takeBack();
        }
    }

    private void takeBackRequest(MessageKind kind, long sequence, long offset, boolean last) {
        queue.cursor(sequence);
        payload.offset(offset);
        faultSequence = -1;
        switch (kind) {
            case READ_REQUEST -> reads.takeBack();
            case ATOMIC_REQUEST -> atomics.takeBack();
            case SEND, IMMEDIATE -> sends.takeBack(last);
            case WRITE, READ_RESPONSE, ATOMIC_RESPONSE, TERMINATE, READY_TO_RECEIVE -> {
                // A WRITE has no number; the others are no requests.
            }
        }
    }

    @Override
    public boolean allowsRequests() {
        return requestsAllowed;
    }

    /** A request that cannot be executed fails once everything before it is complete. */
    @Override
    public boolean settleFault() {
        if (faultSequence >= 0 && outboundReads.isEmpty()) {
            long sequence = faultSequence;
            faultSequence = -1;
            parts.events().localError(sequence, faultStatus);
            return terminates.isQueued();
        }
        return false;
    }

    @Override
    public void memoryGone(long sequence) {
        parts.events().bufferGone(sequence);
    }

    @Override
    public boolean isIdle() {
        return !inboundReads.hasUnsent() && !terminates.isWaiting();
    }
}
