package org.softrdma.sim.engine;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.EntryTable;
import org.softrdma.sim.queue.InboundReadQueue;
import org.softrdma.sim.queue.OutboundReadQueue;
import org.softrdma.sim.queue.ReceiveQueue;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.transport.StreamSocket;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.RdmapOpcode;
import org.softrdma.sim.wire.Terminate;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.CompletionStatus;

/**
 * What a connection receives: FPDUs are cut from the byte stream, checked, and their payload placed.
 *
 * <p>Bytes arrive in the engine's receive buffer and are copied once to where they belong; the rest of a large payload, once its
 * header has been checked, is received straight into its place ({@link StreamReceiver}). Where the response to a large READ is expected
 * next, little more than its header is received at first. So the sink of a READ holds bytes of its response or what it held before. With
 * CRC a whole FPDU is received first, because nothing may be placed before its CRC was checked (RFC 5044 section 4.4). Each placement is
 * checked against the stag table, and again by its {@link Binding} when it goes on in a later batch.
 *
 * <p>Engine thread only.
 */
final class InboundStream {
    private static final long TURN_BYTES = 1024 * 1024;
    /** A payload with this much left is received straight into its place. */
    private static final int STRAIGHT_BYTES = 4 * 1024;
    /** A payload with this much left is large: a system call for its header alone costs less than copying it. */
    private static final int LARGE_BYTES = 16 * 1024;
    /** After a large segment only this much is received at once, so that the next one's payload can go straight too. */
    private static final int SMALL_RECEIVE = 2 * 1024;
    /** The header of a response and a little payload: short messages come whole, and the rest of the sink is as aligned as before. */
    private static final int HEADER_RECEIVE = Ddp.TAGGED_HEADER_LENGTH + 128;

    private static final int PEEK_BYTES = Short.BYTES + Short.BYTES;
    private static final long NONE = 0;

    private enum Message {
        WRITE,
        READ_RESPONSE,
        SEND,
        /** Done when its header was seen: READ request. */
        IMMEDIATE
    }

    private final RnicEngine engine;
    private final Connection connection;
    private final StreamSocket socket;
    private final StreamReceiver receiver;
    private final MemoryOperations memory;
    private final StagTable stags;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final InboundReadQueue inboundReads;
    private final OutboundReadQueue outboundReads;
    private final int domain;
    private final boolean crc;

    private boolean afterLargeSegment;
    private boolean readyToReceiveExpected;

    // The segment being received.
    private Message message = Message.IMMEDIATE;
    private boolean last;
    private boolean solicited;
    private int payload;
    private int placeRemaining;
    private int trailerRemaining;
    private long runAddress;
    private int runRemaining;
    private @Nullable Binding runBinding;
    private long runEpoch;

    // The messages being received.
    private int sendMsn = 1;
    private int readRequestMsn = 1;
    private long sendOffset;
    private long readOffset;

    InboundStream(
            RnicEngine engine,
            Connection connection,
            StreamSocket socket,
            SoftQueuePair queuePair,
            NegotiatedStream negotiated) {
        this.engine = engine;
        this.connection = connection;
        this.socket = socket;
        receiver = new StreamReceiver(engine, socket);
        memory = engine.memory();
        stags = engine.stags();
        sends = queuePair.sendQueue();
        receives = queuePair.receiveQueue();
        inboundReads = connection.inboundReads();
        outboundReads = connection.outboundReads();
        domain = queuePair.domainNumber();
        crc = negotiated.crc();
    }

    /** Gives up what has come in part. */
    void discard() {
        receiver.forget();
    }

    /** The first message will be the initiator's ready-to-receive, a WRITE of no bytes that is not the application's. */
    void expectReadyToReceive() {
        readyToReceiveExpected = true;
    }

    /** True between FPDUs: the peer may end the stream here. */
    boolean isAtBoundary() {
        return receiver.isEmpty() && placeRemaining == 0 && trailerRemaining == 0;
    }

    /**
     * Receives until nothing is there, the stream is over, or the turn is.
     *
     * @return true if the turn is over but there may be more
     * @throws IOException if the connection broke
     */
    boolean receive() throws IOException {
        long turn = TURN_BYTES;
        while (connection.isReceiving() && turn > 0) {
            int straight = !crc && runRemaining >= STRAIGHT_BYTES ? runRemaining : 0;
            if (straight > 0 && !checkRun()) {
                return false;
            }
            int buffered = bufferedBytes(straight);
            int received = straight > 0 ? receiver.receive(runAddress, straight, buffered) : receiver.receive(buffered);
            if (received < 0) {
                connection.endOfStream();
                return false;
            }
            if (received > 0) {
                advanceRun(Math.min(received, straight));
                receiver.keep(consume(receiver.start(), receiver.end()));
            }
            // Fewer than asked for: nothing is left, and an event follows, unless the peer's end has come with the last
            // one.
            if (received < straight + buffered && (received == 0 || !socket.isHungUp())) {
                if (received > 0 && received < straight) {
                    connection.lookAgain();
                }
                return false;
            }
            turn -= received;
        }
        return connection.isReceiving();
    }

    /** How many bytes to receive into the buffer, behind those that go straight into their place. */
    private int bufferedBytes(int straight) {
        int room = receiver.room();
        if (crc) {
            return room;
        }
        if (straight >= LARGE_BYTES || (straight == 0 && afterLargeSegment)) {
            return Math.min(room, SMALL_RECEIVE);
        }
        return straight == 0 && isLargeResponseNext() ? Math.min(room, HEADER_RECEIVE) : room;
    }

    /** True if most likely a READ response comes next whose payload should go straight; short ones in a row are received at once. */
    private boolean isLargeResponseNext() {
        if (outboundReads.isEmpty() || placeRemaining > 0) {
            return false;
        }
        long left = sends.entries().total(sends.slot(outboundReads.oldest())) - readOffset;
        return left >= LARGE_BYTES || (left >= STRAIGHT_BYTES && outboundReads.hasOne());
    }

    // ---- cutting FPDUs

    /** Handles the bytes from a position to an end; returns where it stopped for want of more. */
    private long consume(long from, long end) {
        long at = from;
        while (connection.isReceiving()) {
            if (placeRemaining > 0) {
                int here = (int) Math.min(placeRemaining, end - at);
                if (here > 0 && !place(at, here)) {
                    break;
                }
                at += here;
                if (placeRemaining > 0) {
                    return at;
                }
            }
            if (trailerRemaining > 0) {
                int here = (int) Math.min(trailerRemaining, end - at);
                trailerRemaining -= here;
                at += here;
                if (trailerRemaining > 0) {
                    return at;
                }
                segmentDone();
                continue;
            }
            int header = beginSegment(at, end - at);
            if (header == 0) {
                return connection.isReceiving() ? at : end;
            }
            at += header;
        }
        return end;
    }

    /** Begins the segment at a position; returns the bytes of its header, or 0 if it is not all there. */
    private int beginSegment(long at, long available) {
        if (available < PEEK_BYTES) {
            return 0;
        }
        int ulpdu = Ddp.ulpduLength(at);
        int control = Ddp.control(at);
        boolean tagged = (control & Ddp.TAGGED) != 0;
        int header = headerLength(control);
        int minimum = (tagged ? Ddp.TAGGED_HEADER_LENGTH : Ddp.UNTAGGED_HEADER_LENGTH) - Short.BYTES;
        boolean complete = available >= (crc ? Ddp.fpduLength(ulpdu) : Math.min(header, Short.BYTES + ulpdu));
        if (!complete) {
            return 0;
        }
        if (crc && !engine.crc().isValid(engine.receiveView(), engine.receiveAddress(), at, ulpdu)) {
            engine.counters().increment(Counter.CRC_ERRORS);
            connection.terminate(TerminateCause.MPA_CRC, NONE);
            return 0;
        }
        if (ulpdu < minimum) {
            protocolError(TerminateCause.RDMAP_UNSPECIFIED, NONE);
            return 0;
        }
        if ((control & Ddp.DDP_VERSION_MASK) != Ddp.DDP_VERSION) {
            protocolError(tagged ? TerminateCause.DDP_TAGGED_VERSION : TerminateCause.DDP_UNTAGGED_VERSION, at);
            return 0;
        }
        if ((control & Ddp.RDMAP_VERSION_MASK) != Ddp.RDMAP_VERSION) {
            protocolError(TerminateCause.RDMAP_VERSION, at);
            return 0;
        }
        last = (control & Ddp.LAST) != 0;
        return dispatch(at, ulpdu, control & Ddp.OPCODE_MASK, tagged) ? header : 0;
    }

    /** Bytes that must be there before a segment is looked at. */
    private static int headerLength(int control) {
        if ((control & Ddp.TAGGED) != 0) {
            return Ddp.TAGGED_HEADER_LENGTH;
        }
        return switch (control & Ddp.OPCODE_MASK) {
            case RdmapOpcode.READ_REQUEST -> Ddp.READ_REQUEST_END;
            case RdmapOpcode.TERMINATE -> Short.BYTES + Terminate.MAX_ULPDU;
            default -> Ddp.UNTAGGED_HEADER_LENGTH;
        };
    }

    private boolean dispatch(long at, int ulpdu, int opcode, boolean tagged) {
        if (tagged) {
            payload = ulpdu - (Ddp.TAGGED_HEADER_LENGTH - Short.BYTES);
            return switch (opcode) {
                case RdmapOpcode.WRITE -> beginWrite(at, ulpdu);
                case RdmapOpcode.READ_RESPONSE -> beginReadResponse(at, ulpdu);
                default -> protocolError(TerminateCause.RDMAP_OPCODE, at);
            };
        }
        payload = ulpdu - (Ddp.UNTAGGED_HEADER_LENGTH - Short.BYTES);
        int queue = NativeMemory.getInt(at + Ddp.QUEUE_NUMBER_OFFSET);
        if (Integer.compareUnsigned(queue, Ddp.QUEUE_TERMINATE) > 0) {
            return protocolError(TerminateCause.DDP_QUEUE_NUMBER, at);
        }
        return switch (opcode) {
            case RdmapOpcode.READ_REQUEST ->
                queue == Ddp.QUEUE_READ_REQUEST
                        ? beginReadRequest(at, ulpdu)
                        : protocolError(TerminateCause.DDP_QUEUE_NUMBER, at);
            case RdmapOpcode.SEND, RdmapOpcode.SEND_SOLICITED ->
                queue == Ddp.QUEUE_SEND
                        ? beginSend(at, ulpdu, opcode)
                        : protocolError(TerminateCause.DDP_QUEUE_NUMBER, at);
            case RdmapOpcode.SEND_INVALIDATE, RdmapOpcode.SEND_SOLICITED_INVALIDATE ->
                protocolError(TerminateCause.RDMAP_CANNOT_INVALIDATE, at);
            case RdmapOpcode.TERMINATE ->
                queue == Ddp.QUEUE_TERMINATE
                        ? terminated(at, ulpdu)
                        : protocolError(TerminateCause.DDP_QUEUE_NUMBER, at);
            default -> protocolError(TerminateCause.RDMAP_OPCODE, at);
        };
    }

    private boolean protocolError(TerminateCause cause, long segment) {
        engine.counters().increment(Counter.PROTOCOL_ERRORS);
        connection.terminate(cause, segment);
        return false;
    }

    private boolean accessError(TerminateCause cause, long segment) {
        connection.accessRefused();
        connection.terminate(cause, segment);
        return false;
    }

    // ---- one method for each kind of segment

    private boolean beginWrite(long at, int ulpdu) {
        engine.counters().increment(Counter.RECEIVED_WRITE);
        if (payload > 0) {
            long taggedOffset = NativeMemory.getLong(at + Ddp.TAGGED_OFFSET_OFFSET);
            int row = stags.findRemote(NativeMemory.getInt(at + Ddp.STAG_OFFSET));
            AccessResult result = stags.check(row, domain, AccessRights.REMOTE_WRITE, taggedOffset, payload);
            if (result != AccessResult.GRANTED) {
                return accessError(AccessCauses.tagged(result), at);
            }
            beginRun(row, taggedOffset, payload);
        }
        return beginPayload(Message.WRITE, ulpdu);
    }

    private boolean beginReadResponse(long at, int ulpdu) {
        engine.counters().increment(Counter.RECEIVED_READ_RESPONSE);
        if (outboundReads.isEmpty()) {
            return protocolError(TerminateCause.RDMAP_OPCODE, at);
        }
        int slot = sends.slot(outboundReads.oldest());
        EntryTable entries = sends.entries();
        long length = entries.total(slot);
        if (payload > length - readOffset) {
            return protocolError(TerminateCause.DDP_BOUNDS, at);
        }
        if (last != (readOffset + payload == length)) {
            return protocolError(TerminateCause.RDMAP_UNSPECIFIED, at);
        }
        if (payload > 0) {
            long taggedOffset = NativeMemory.getLong(at + Ddp.TAGGED_OFFSET_OFFSET);
            // The peer names the sink that it was told; only that one, and only in order.
            if (NativeMemory.getInt(at + Ddp.STAG_OFFSET) != entries.lkey(slot, 0)) {
                return protocolError(TerminateCause.DDP_INVALID_STAG, at);
            }
            if (taggedOffset != entries.address(slot, 0) + readOffset) {
                return protocolError(TerminateCause.DDP_BOUNDS, at);
            }
            int row = stags.findLocal(entries.lkey(slot, 0));
            if (stags.check(row, domain, AccessRights.LOCAL_WRITE, taggedOffset, payload) != AccessResult.GRANTED) {
                connection.localProtectionError(outboundReads.oldest());
                return false;
            }
            beginRun(row, taggedOffset, payload);
        }
        return beginPayload(Message.READ_RESPONSE, ulpdu);
    }

    private boolean beginSend(long at, int ulpdu, int opcode) {
        engine.counters().increment(Counter.RECEIVED_SEND);
        if (NativeMemory.getInt(at + Ddp.MSN_OFFSET) != sendMsn) {
            return protocolError(TerminateCause.DDP_MSN_RANGE, at);
        }
        if (!receives.hasNext()) {
            return protocolError(TerminateCause.DDP_NO_BUFFER, at);
        }
        if (NativeMemory.getInt(at + Ddp.MESSAGE_OFFSET_OFFSET) != (int) sendOffset) {
            return protocolError(TerminateCause.DDP_MESSAGE_OFFSET, at);
        }
        if (sendOffset + payload > receives.entries().total(receives.slot())) {
            receives.fail(CompletionStatus.LOCAL_LENGTH_ERROR, TerminateCause.DDP_TOO_LONG.code());
            return protocolError(TerminateCause.DDP_TOO_LONG, at);
        }
        solicited = opcode == RdmapOpcode.SEND_SOLICITED;
        runRemaining = 0;
        return beginPayload(Message.SEND, ulpdu);
    }

    private boolean beginReadRequest(long at, int ulpdu) {
        engine.counters().increment(Counter.RECEIVED_READ_REQUEST);
        if (ulpdu != Ddp.READ_REQUEST_END - Short.BYTES || !last) {
            return protocolError(TerminateCause.RDMAP_UNSPECIFIED, at);
        }
        int msn = NativeMemory.getInt(at + Ddp.MSN_OFFSET);
        if (msn != readRequestMsn) {
            return protocolError(TerminateCause.DDP_MSN_RANGE, at);
        }
        if (NativeMemory.getInt(at + Ddp.MESSAGE_OFFSET_OFFSET) != 0) {
            return protocolError(TerminateCause.DDP_MESSAGE_OFFSET, at);
        }
        long length = Integer.toUnsignedLong(NativeMemory.getInt(at + Ddp.READ_LENGTH_OFFSET));
        int sourceStag = NativeMemory.getInt(at + Ddp.READ_SOURCE_STAG_OFFSET);
        long sourceOffset = NativeMemory.getLong(at + Ddp.READ_SOURCE_OFFSET_OFFSET);
        int row = -1;
        if (length > 0) {
            row = stags.findRemote(sourceStag);
            AccessResult result = stags.check(row, domain, AccessRights.REMOTE_READ, sourceOffset, length);
            if (result != AccessResult.GRANTED) {
                return accessError(AccessCauses.readRequest(result), at);
            }
        }
        int sinkStag = NativeMemory.getInt(at + Ddp.READ_SINK_STAG_OFFSET);
        long sinkOffset = NativeMemory.getLong(at + Ddp.READ_SINK_OFFSET_OFFSET);
        long batch = engine.epoch().current();
        if (!inboundReads.add(msn, sinkStag, sinkOffset, length, sourceStag, sourceOffset, row, batch)) {
            return protocolError(TerminateCause.DDP_NO_BUFFER, at);
        }
        readRequestMsn++;
        message = Message.IMMEDIATE;
        trailerRemaining = Ddp.trailerLength(ulpdu);
        return true;
    }

    private boolean terminated(long at, int ulpdu) {
        engine.counters().increment(Counter.TERMINATES_RECEIVED);
        if (ulpdu < Terminate.MIN_ULPDU) {
            connection.terminated(TerminateCause.RDMAP_UNSPECIFIED.code(), 0);
        } else {
            connection.terminated(Terminate.code(at), Terminate.readRequestMsn(at, ulpdu));
        }
        return false;
    }

    // ---- placing payload

    private boolean beginPayload(Message newMessage, int ulpdu) {
        message = newMessage;
        placeRemaining = payload;
        trailerRemaining = Ddp.trailerLength(ulpdu);
        afterLargeSegment = payload >= LARGE_BYTES;
        return true;
    }

    /** Begins a contiguous piece of memory that was granted in this batch. */
    private void beginRun(int row, long address, int length) {
        Binding binding = stags.binding(row);
        runBinding = binding;
        runAddress = binding.address() + stags.offset(row, address);
        runRemaining = length;
        runEpoch = engine.epoch().current();
        engine.use(binding, runAddress, length);
    }

    private void advanceRun(int length) {
        runAddress += length;
        runRemaining -= length;
        placeRemaining -= length;
        if (message == Message.SEND) {
            sendOffset += length;
        }
    }

    private boolean place(long from, int length) {
        long at = from;
        int left = length;
        while (left > 0) {
            if (runRemaining == 0 ? !nextRun() : !checkRun()) {
                return false;
            }
            int here = Math.min(left, runRemaining);
            memory.copy(at, runAddress, here);
            advanceRun(here);
            at += here;
            left -= here;
        }
        return true;
    }

    /** False, and the connection is on its way down, if the memory was deregistered since an earlier batch. */
    private boolean checkRun() {
        if (runEpoch == engine.epoch().current()) {
            return true;
        }
        if (runBinding != null && runBinding.isAlive()) {
            engine.use(runBinding, runAddress, runRemaining);
            runEpoch = engine.epoch().current();
            return true;
        }
        switch (message) {
            case SEND -> receiveFault();
            case READ_RESPONSE -> connection.localProtectionError(outboundReads.oldest());
            default -> accessError(TerminateCause.DDP_INVALID_STAG, NONE);
        }
        return false;
    }

    /** The next entry of the RECV that a SEND fills. */
    private boolean nextRun() {
        EntryTable entries = receives.entries();
        int slot = receives.slot();
        long skip = sendOffset;
        int entry = 0;
        while (skip >= entries.length(slot, entry)) {
            skip -= entries.length(slot, entry);
            entry++;
        }
        int here = (int) Math.min(placeRemaining, entries.length(slot, entry) - skip);
        long address = entries.address(slot, entry) + skip;
        int row = stags.findLocal(entries.lkey(slot, entry));
        if (stags.check(row, domain, AccessRights.LOCAL_WRITE, address, here) != AccessResult.GRANTED) {
            receiveFault();
            return false;
        }
        beginRun(row, address, here);
        return true;
    }

    private void receiveFault() {
        receives.fail(CompletionStatus.LOCAL_PROTECTION_ERROR, 0);
        connection.terminate(TerminateCause.RDMAP_STREAM_CATASTROPHIC, NONE);
    }

    private void segmentDone() {
        connection.segmentReceived();
        switch (message) {
            case WRITE -> {
                engine.counters().add(Counter.RESPONDER_WRITE_BYTES, payload);
                if (last && !(readyToReceiveExpected && payload == 0)) {
                    engine.counters().increment(Counter.RESPONDER_WRITES);
                }
                readyToReceiveExpected = false;
            }
            case READ_RESPONSE -> {
                readOffset += payload;
                if (last) {
                    readOffset = 0;
                    long sequence = outboundReads.oldest();
                    outboundReads.complete();
                    sends.complete(sequence);
                }
            }
            case SEND -> {
                if (last) {
                    engine.counters().increment(Counter.RESPONDER_SENDS);
                    sendMsn++;
                    long length = sendOffset;
                    sendOffset = 0;
                    receives.complete(length, solicited);
                }
            }
            case IMMEDIATE -> {
                // It was queued when its header was seen.
            }
        }
    }
}
