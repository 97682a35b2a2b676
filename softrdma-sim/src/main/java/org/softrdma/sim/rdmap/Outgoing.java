package org.softrdma.sim.rdmap;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.SegmentSource;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.NearMemory;
import org.softrdma.sim.queue.EntryTable;
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
    private final WindowRequests windowRequests;
    private final NearReads nearReads;

    private boolean requestsAllowed;
    private boolean requestsAbandoned;
    private boolean readyToReceivePending;
    private int responsesInARow;
    private long localRequests;
    /** What {@link #runLocal} may still read in this turn. */
    private long turnBytesLeft;
    /** It has left something for the next turn. */
    private boolean localLeft;
    /** Sequence of a READ that cannot be done here, or -1. */
    private long farRead = -1;
    /** Sequence of a request that cannot be executed, or -1. */
    private long faultSequence = -1;
    /** How it fails. */
    private CompletionStatus faultStatus = CompletionStatus.LOCAL_PROTECTION_ERROR;

    /** Makes the kinds, each of which sends something; {@link Incoming} takes them from here. */
    Outgoing(StreamParts parts) {
        this.parts = parts;
        payload = new RequestPayload(parts);
        writes = new Writes(parts, payload);
        windowRequests = new WindowRequests(parts);
        sends = new Sends(parts, payload, windowRequests);
        reads = new Reads(parts);
        readResponses = new ReadResponses(parts);
        immediates = new Immediates(parts, payload, writes, sends);
        atomics = new Atomics(parts);
        atomicResponses = new AtomicResponses(parts);
        terminates = new Terminates(parts, atomics, immediates);
        nearReads = new NearReads(
                parts.engine(),
                parts.endpoint().near(),
                NearMemory.Reader.ENGINE,
                parts.engine().gathered(),
                parts.endpoint().domain());
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
        localLeft = false;
        requestsAbandoned = true;
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

    /** Requests that were executed and have sent nothing; all of them stood before what is sent next. */
    public long localRequests() {
        return localRequests;
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
        if (isFenced(slot) || waitsForItsTurn(slot)) {
            return false;
        }
        return !queue.opcode(slot).isAnswered() || outboundReads.hasRoom();
    }

    /**
     * A READ that is done here once those before it have their data: so a queue that is never empty changes over, too. If
     * there are none, it was posted after {@link #runLocal} had its turn, and its doorbell brings the next one; or that has
     * left it ({@link #isLocalLeft}).
     */
    private boolean waitsForItsTurn(int slot) {
        return queue.opcode(slot) == SendOpcode.READ
                && queue.cursor() != farRead
                && (!outboundReads.isEmpty() || queue.isSettledAtCursor())
                && nearReads.covers(
                        queue.rkey(slot),
                        queue.remoteAddress(slot),
                        queue.entries().total(slot));
    }

    /** True if it is the turn of the READ at the cursor, which can perhaps be done here. */
    private boolean isReadHere(long sequence) {
        return requestsAllowed && sequence != farRead && queue.isSettledAtCursor() && outboundReads.isEmpty();
    }

    /** Does the READ at the cursor here, if that is possible. */
    private boolean readHere(long sequence, int slot) {
        EntryTable entries = queue.entries();
        long length = entries.total(slot);
        boolean done = length > 0
                && nearReads.read(
                        entries.lkey(slot, 0),
                        entries.address(slot, 0),
                        queue.rkey(slot),
                        queue.remoteAddress(slot),
                        length);
        farRead = done ? -1 : sequence;
        return done;
    }

    private boolean isFenced(int slot) {
        return queue.hasFlag(slot, SendFlags.FENCE) && !outboundReads.isEmpty();
    }

    @Override
    public void beginTurn() {
        turnBytesLeft = NearReads.TURN_BYTES;
    }

    /** They need no word of the peer either, which must speak first before anything is sent. */
    @Override
    public void runLocal() {
        localLeft = false;
        while (!requestsAbandoned && faultSequence < 0 && queue.hasUnsent()) {
            long sequence = queue.cursor();
            int slot = queue.slot(sequence);
            if (queue.opcode(slot) == SendOpcode.READ && isReadHere(sequence)) {
                if (turnBytesLeft <= 0) {
                    localLeft = true;
                    return;
                }
                if (readHere(sequence, slot)) {
                    turnBytesLeft -= queue.entries().total(slot);
                    completeHere(sequence);
                    continue;
                }
            }
            if (!WindowRequests.isOne(queue.opcode(slot)) || isFenced(slot)) {
                return;
            }
            if (windowRequests.execute(slot)) {
                completeHere(sequence);
            } else {
                faultSequence = sequence;
                faultStatus = WindowRequests.failure(queue.opcode(slot));
            }
        }
    }

    @Override
    public boolean isLocalLeft() {
        return localLeft;
    }

    private void completeHere(long sequence) {
        localRequests++;
        queue.cursor(sequence + 1);
        queue.complete(sequence);
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
            case BIND_WINDOW, INVALIDATE -> Added.NO_ROOM; // once the batch has gone, by runLocal
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
