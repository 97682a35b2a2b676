package org.softrdma.sim.engine;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
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
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.transport.StreamSocket;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.RdmapOpcode;
import org.softrdma.sim.wire.Terminate;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;

/**
 * What a connection sends: READ responses, the send queue's requests, and at the end a Terminate.
 *
 * <p>Algorithm: fill a batch with segments, moving cursors over the queues; send it with one call; for what the kernel took,
 * complete requests; for what it did not take, move the cursors back and make those segments anew later. Only a segment that
 * went in part is kept ({@link Residue}). So memory per connection is bounded whatever the peer does, and no pointer into
 * registered memory outlives a batch without its binding. Messages are not interleaved; responses and requests take turns, a
 * request after every three responses. A batch and a turn are bounded, so that a huge message does not starve other connections.
 *
 * <p>Engine thread only.
 */
final class OutboundStream {
    private static final long TURN_BYTES = 512 * 1024;
    private static final long BATCH_BYTES = 256 * 1024;
    private static final int RESPONSES_PER_REQUEST = 3;
    /** A WRITE of no bytes. */
    private static final int READY_ULPDU = Ddp.TAGGED_HEADER_LENGTH - Short.BYTES;

    private final RnicEngine engine;
    private final Connection connection;
    private final StreamSocket socket;
    private final SendQueue sends;
    private final InboundReadQueue inboundReads;
    private final OutboundReadQueue outboundReads;
    private final int domain;
    private final boolean crc;
    private final int maxPayload;
    private final int copyBelow;
    private final MemoryOperations memory;
    private final Residue residue;
    /** The row of each entry under the message part that is being added. */
    private final int[] entryRows;

    private boolean requestsAllowed;
    private boolean readyToReceivePending;
    private boolean blocked;
    private int responsesInARow;
    private int sendMsn = 1;
    private long requestOffset;
    private long responseOffset;
    private @Nullable Binding responseBinding;
    /** Where {@link #responseSource} found a response of one segment, which needs no binding unless it goes in part. */
    private int responseRow;
    /** Why {@link #responseSource} has found nothing. */
    private AccessResult refusal = AccessResult.GRANTED;

    private long faultSequence = -1;
    private @Nullable MemorySegment terminate;
    private int terminateUlpdu;

    OutboundStream(
            RnicEngine engine,
            Connection connection,
            StreamSocket socket,
            SoftQueuePair queuePair,
            NegotiatedStream negotiated) {
        this.engine = engine;
        this.connection = connection;
        this.socket = socket;
        memory = engine.memory();
        residue = new Residue(engine);
        sends = queuePair.sendQueue();
        inboundReads = connection.inboundReads();
        outboundReads = connection.outboundReads();
        domain = queuePair.domainNumber();
        crc = negotiated.crc();
        maxPayload = engine.limits().maxPayload();
        copyBelow = engine.limits().copyBelow();
        entryRows = new int[queuePair.limits().maxSendScatterGather()];
    }

    /** From now on the send queue's requests may go. */
    void allowRequests() {
        requestsAllowed = true;
    }

    /** Sends a WRITE of no bytes next, between two messages (RFC 6581 section 9.2). */
    void sendReadyToReceive() {
        readyToReceivePending = true;
    }

    /** There may be room in the socket again. */
    void writable() {
        blocked = false;
    }

    /** True if part of a segment has gone and the rest has not. */
    boolean isMidSegment() {
        return !residue.isEmpty();
    }

    /**
     * Gives up the requests of the send queue, also one that has gone in part; what is left of its segment is copied, because
     * its buffer is the application's again once the request is flushed.
     */
    void abandonRequests() {
        requestsAllowed = false;
        requestOffset = 0;
        faultSequence = -1;
        if (residue.isRequest()) {
            engine.epoch().enter();
            try {
                residue.own(engine);
            } finally {
                engine.epoch().exit();
            }
        }
    }

    /** Gives up the READ responses, also one that has gone in part. */
    void abandonResponses() {
        inboundReads.clear();
        responseOffset = 0;
        responseBinding = null;
    }

    /** Gives up everything: no more is sent. */
    void discard() {
        requestsAllowed = false;
        readyToReceivePending = false;
        requestOffset = 0;
        faultSequence = -1;
        residue.clear();
        abandonResponses();
    }

    /** True if nothing is left to send but what this side may still be asked for. */
    boolean isIdle() {
        return residue.isEmpty() && !inboundReads.hasUnsent() && (terminate == null || connection.isTerminateSent());
    }

    /**
     * Queues a Terminate behind the READ responses that still can go; nothing else is sent any more.
     *
     * @param cause why
     * @param segment FPDU of the segment that was wrong, its header complete, or 0
     */
    void terminate(TerminateCause cause, long segment) {
        if (terminate == null) {
            abandonRequests();
            terminate = memory.allocate(Terminate.MAX_FPDU, Long.BYTES);
            terminateUlpdu = Terminate.put(terminate.address(), cause, segment);
        }
    }

    /**
     * Sends until there is nothing to send, the kernel takes no more, or the turn is over.
     *
     * @return true if the turn is over but there is more
     * @throws IOException if the connection broke
     */
    boolean transmit() throws IOException {
        TransmitBatch batch = engine.batch();
        try {
            return transmit(batch);
        } finally {
            batch.begin(); // nothing that was gathered is in use any more
        }
    }

    private boolean transmit(TransmitBatch batch) throws IOException {
        long turn = TURN_BYTES;
        while (!blocked && turn > 0) {
            batch.begin();
            if (!residue.isEmpty() && !residue.addTo(batch, engine)) {
                if (!residue.isRequest()) {
                    throw new IOException("memory was deregistered while a message was being sent from it");
                }
                connection.bufferGone(residue.sequence());
                return false;
            }
            fill(batch);
            if (batch.isEmpty()) {
                return settleFault();
            }
            long sent = socket.gather(batch.vectors(), 0, batch.entries());
            engine.counters().increment(Counter.SEND_CALLS);
            int complete = settle(batch, sent);
            if (sent < batch.total()) {
                engine.counters().increment(Counter.SHORT_SENDS);
                blocked = true;
                takeBack(batch, complete, sent);
                socket.awaitRoom();
            }
            turn -= sent;
        }
        return !blocked;
    }

    /** Once everything before a request with bad local memory is through, it fails. */
    private boolean settleFault() {
        if (faultSequence >= 0 && outboundReads.isEmpty()) {
            long sequence = faultSequence;
            faultSequence = -1;
            connection.localProtectionError(sequence);
            return terminate != null;
        }
        return false;
    }

    // ---- filling a batch

    private void fill(TransmitBatch batch) {
        boolean more = true;
        while (more && batch.total() < BATCH_BYTES) {
            more = addNext(batch);
        }
    }

    private boolean addNext(TransmitBatch batch) {
        if (responseOffset > 0) {
            return addResponse(batch);
        }
        if (requestOffset > 0) {
            return addMessage(batch);
        }
        if (readyToReceivePending) {
            return addReadyToReceive(batch);
        }
        boolean response = inboundReads.hasUnsent();
        if (response && (responsesInARow < RESPONSES_PER_REQUEST || !mayRequest())) {
            responsesInARow++;
            return addResponse(batch);
        }
        responsesInARow = 0;
        if (mayRequest()) {
            return addRequest(batch);
        }
        return terminate != null && addTerminate(batch);
    }

    private boolean mayRequest() {
        if (!requestsAllowed || faultSequence >= 0 || !sends.hasUnsent()) {
            return false;
        }
        int slot = sends.slot(sends.cursor());
        if (sends.hasFlag(slot, SendFlags.FENCE) && !outboundReads.isEmpty()) {
            return false;
        }
        return sends.opcode(slot) != SendOpcode.READ.ordinal() || outboundReads.hasRoom();
    }

    private boolean addReadyToReceive(TransmitBatch batch) {
        if (!batch.hasRoom(Ddp.fpduLength(READY_ULPDU), 0)) {
            return false;
        }
        readyToReceivePending = false;
        long at = batch.stage(Ddp.fpduLength(READY_ULPDU));
        Ddp.putTagged(at, RdmapOpcode.WRITE, true, 0, 0, 0);
        finish(batch, at, READY_ULPDU);
        batch.endSegment(SegmentKind.READY_TO_RECEIVE, 0, 0, true, null);
        return true;
    }

    private boolean addTerminate(TransmitBatch batch) {
        MemorySegment message = terminate;
        if (message == null || connection.isTerminateSent()) {
            return false;
        }
        int fpdu = Ddp.fpduLength(terminateUlpdu);
        if (!batch.hasRoom(fpdu, 0)) {
            return false;
        }
        long at = batch.stage(fpdu);
        NativeMemory.copy(message.address(), at, Short.BYTES + terminateUlpdu);
        finish(batch, at, terminateUlpdu);
        batch.endSegment(SegmentKind.TERMINATE, 0, 0, true, null);
        connection.terminateStaged(true);
        return true;
    }

    // ---- READ responses

    private boolean addResponse(TransmitBatch batch) {
        long sequence = inboundReads.cursor();
        int slot = inboundReads.slot(sequence);
        long length = inboundReads.length(slot);
        int payload = (int) Math.min(length - responseOffset, maxPayload);
        boolean staged = crc || payload < copyBelow;
        if (!batch.hasRoom(stagedBytes(Ddp.TAGGED_HEADER_LENGTH, payload, staged), 1)) {
            return false;
        }
        long source = 0;
        if (payload > 0) {
            source = responseSource(slot, length, payload);
            if (source == 0) {
                // What is in the batch goes first: refusing flushes requests, and their buffers are not read after
                // that.
                return batch.isEmpty() && refuse();
            }
        }
        long before = responseOffset;
        boolean last = before + payload == length;
        Binding messageBinding = responseBinding;
        addTagged(
                batch,
                RdmapOpcode.READ_RESPONSE,
                last,
                inboundReads.sinkStag(slot),
                inboundReads.sinkOffset(slot) + before,
                source,
                payload,
                staged,
                messageBinding);
        batch.endSegment(SegmentKind.READ_RESPONSE, sequence, before, last, messageBinding);
        if (last) {
            responseOffset = 0;
            responseBinding = null;
            inboundReads.cursor(sequence + 1);
        } else {
            responseOffset = before + payload;
        }
        return true;
    }

    /**
     * Where the next part of a response is read from, or 0 if that may not be read (any more).
     *
     * <p>A response of one segment needs its row of the stag table only. One of several keeps the binding it began with, so that
     * it sees one memory to its end even if the region is swapped.
     */
    private long responseSource(int slot, long length, int payload) {
        Binding binding = responseBinding;
        if (responseOffset > 0) {
            refusal = AccessResult.INVALID_STAG;
            return binding != null && binding.isAlive()
                    ? used(binding, inboundReads.memoryOffset(slot) + responseOffset, payload)
                    : 0;
        }
        StagTable stags = engine.stags();
        long address = inboundReads.sourceOffset(slot);
        int row = inboundReads.rowGranted(slot, engine.epoch().current());
        if (row < 0) {
            row = stags.findRemote(inboundReads.sourceStag(slot));
            refusal = stags.check(row, domain, AccessRights.REMOTE_READ, address, length);
            if (refusal != AccessResult.GRANTED) {
                return 0;
            }
        }
        if (payload == length) {
            responseRow = row;
            long source = stags.rawAddress(row, address);
            engine.use(row, source, payload);
            return source;
        }
        binding = stags.binding(row);
        responseBinding = binding;
        inboundReads.memoryOffset(slot, stags.offset(row, address));
        return used(binding, inboundReads.memoryOffset(slot), payload);
    }

    private long used(Binding binding, long offset, long length) {
        long source = binding.address() + offset;
        engine.use(binding, source, length);
        return source;
    }

    private boolean refuse() {
        long sent = responseOffset;
        responseOffset = 0;
        responseBinding = null;
        connection.refuseRead(inboundReads.cursor(), refusal, sent);
        return true;
    }

    // ---- requests of the send queue

    private boolean addRequest(TransmitBatch batch) {
        int slot = sends.slot(sends.cursor());
        return sends.opcode(slot) == SendOpcode.READ.ordinal() ? addReadRequest(batch, slot) : addMessage(batch);
    }

    private boolean addReadRequest(TransmitBatch batch, int slot) {
        int ulpdu = Ddp.READ_REQUEST_END - Short.BYTES;
        if (!batch.hasRoom(Ddp.fpduLength(ulpdu), 0)) {
            return false;
        }
        EntryTable entries = sends.entries();
        long length = entries.total(slot);
        long sinkAddress = 0;
        int sinkKey = 0;
        if (length > 0) {
            sinkAddress = entries.address(slot, 0);
            sinkKey = entries.lkey(slot, 0);
            StagTable stags = engine.stags();
            if (stags.check(stags.findLocal(sinkKey), domain, AccessRights.LOCAL_WRITE, sinkAddress, length)
                    != AccessResult.GRANTED) {
                faultSequence = sends.cursor();
                return false;
            }
        }
        long sequence = sends.cursor();
        int msn = outboundReads.add(sequence);
        long at = batch.stage(Ddp.fpduLength(ulpdu));
        Ddp.putReadRequest(at, msn, sinkKey, sinkAddress, (int) length, sends.rkey(slot), sends.remoteAddress(slot));
        finish(batch, at, ulpdu);
        batch.endSegment(SegmentKind.READ_REQUEST, sequence, 0, true, null);
        sends.cursor(sequence + 1);
        return true;
    }

    /** The next segment of a WRITE or SEND. */
    private boolean addMessage(TransmitBatch batch) {
        long sequence = sends.cursor();
        int slot = sends.slot(sequence);
        EntryTable entries = sends.entries();
        long length = entries.total(slot);
        int payload = (int) Math.min(length - requestOffset, maxPayload);
        boolean inline = sends.hasFlag(slot, SendFlags.INLINE);
        boolean staged = crc || inline || payload < copyBelow;
        boolean write = sends.opcode(slot) == SendOpcode.WRITE.ordinal();
        int header = write ? Ddp.TAGGED_HEADER_LENGTH : Ddp.UNTAGGED_HEADER_LENGTH;
        if (!batch.hasRoom(stagedBytes(header, payload, staged), entries.count(slot))) {
            return false;
        }
        if (!inline && !findReadable(slot, requestOffset, payload)) {
            faultSequence = sequence;
            return false;
        }
        boolean last = requestOffset + payload == length;
        int ulpdu = header - Short.BYTES + payload;
        long at = batch.stage(staged ? Ddp.fpduLength(ulpdu) : header);
        if (write) {
            long remote = sends.remoteAddress(slot) + requestOffset;
            Ddp.putTagged(at, RdmapOpcode.WRITE, last, sends.rkey(slot), remote, payload);
        } else {
            boolean solicited = sends.hasFlag(slot, SendFlags.SOLICITED);
            int opcode = solicited ? RdmapOpcode.SEND_SOLICITED : RdmapOpcode.SEND;
            Ddp.putUntagged(at, opcode, last, Ddp.QUEUE_SEND, sendMsn, (int) requestOffset, payload);
        }
        if (inline) {
            NativeMemory.copy(sends.inlineAddress(slot) + requestOffset, at + header, payload);
        } else {
            addPieces(batch, slot, payload, staged ? at + header : 0);
        }
        if (staged) {
            finish(batch, at, ulpdu);
        } else {
            batch.stageZeros(Ddp.trailerLength(ulpdu));
        }
        batch.endSegment(write ? SegmentKind.WRITE : SegmentKind.SEND, sequence, requestOffset, last, null);
        advanceRequest(sequence, payload, last, write);
        return true;
    }

    private void advanceRequest(long sequence, int payload, boolean last, boolean write) {
        if (last) {
            requestOffset = 0;
            sends.cursor(sequence + 1);
            if (!write) {
                sendMsn++;
            }
        } else {
            requestOffset += payload;
        }
    }

    /** Finds the rows of the local entries under a part of a message; false if one of them may not be read. */
    private boolean findReadable(int slot, long offset, int length) {
        EntryTable entries = sends.entries();
        StagTable stags = engine.stags();
        long skip = offset;
        long left = length;
        for (int i = 0; left > 0; i++) {
            long here = Math.min(left, entries.length(slot, i) - skip);
            if (here > 0) {
                int row = stags.findLocal(entries.lkey(slot, i));
                if (stags.check(row, domain, AccessRights.NONE, entries.address(slot, i) + skip, here)
                        != AccessResult.GRANTED) {
                    return false;
                }
                entryRows[i] = row;
                left -= here;
                skip = 0;
            } else {
                skip -= entries.length(slot, i);
            }
        }
        return true;
    }

    /** Copies (to an address) or gathers (to 0) a part of a message whose rows {@link #findReadable} has found in this batch. */
    private void addPieces(TransmitBatch batch, int slot, int length, long copyTo) {
        EntryTable entries = sends.entries();
        StagTable stags = engine.stags();
        long skip = requestOffset;
        long left = length;
        long to = copyTo;
        for (int i = 0; left > 0; i++) {
            long here = Math.min(left, entries.length(slot, i) - skip);
            if (here > 0) {
                int row = entryRows[i];
                long address = entries.address(slot, i) + skip;
                if (copyTo != 0) {
                    long source = stags.rawAddress(row, address);
                    engine.use(row, source, here);
                    memory.copy(source, to, here);
                    to += here;
                } else {
                    Binding binding = stags.binding(row);
                    batch.gather(used(binding, stags.offset(row, address), here), here, binding);
                }
                left -= here;
                skip = 0;
            } else {
                skip -= entries.length(slot, i);
            }
        }
    }

    // ---- parts of segments

    private void addTagged(
            TransmitBatch batch,
            int opcode,
            boolean last,
            int stag,
            long taggedOffset,
            long source,
            int payload,
            boolean staged,
            @Nullable Binding binding) {
        int ulpdu = Ddp.TAGGED_HEADER_LENGTH - Short.BYTES + payload;
        if (staged) {
            long at = batch.stage(Ddp.fpduLength(ulpdu));
            Ddp.putTagged(at, opcode, last, stag, taggedOffset, payload);
            if (payload > 0) {
                memory.copy(source, at + Ddp.TAGGED_HEADER_LENGTH, payload);
            }
            finish(batch, at, ulpdu);
        } else {
            long at = batch.stage(Ddp.TAGGED_HEADER_LENGTH);
            Ddp.putTagged(at, opcode, last, stag, taggedOffset, payload);
            if (binding != null) {
                batch.gather(source, payload, binding);
            } else {
                batch.gather(source, payload, responseRow);
            }
            batch.stageZeros(Ddp.trailerLength(ulpdu));
        }
    }

    /** Bytes that a segment stages: all of it, or what is around a payload that is gathered, whose length decides the pad. */
    private static int stagedBytes(int header, int payload, boolean staged) {
        int fpdu = Ddp.fpduLength(header - Short.BYTES + payload);
        return staged ? fpdu : fpdu - payload;
    }

    /** Fills in pad and CRC field of a wholly staged FPDU. */
    private void finish(TransmitBatch batch, long fpdu, int ulpdu) {
        long end = fpdu + Ddp.fpduLength(ulpdu);
        for (long at = fpdu + Short.BYTES + ulpdu; at < end - Ddp.CRC_LENGTH; at++) {
            NativeMemory.putByte(at, 0);
        }
        if (crc) {
            engine.crc().put(batch.stagingView(), batch.stagingAddress(), fpdu, ulpdu);
        } else {
            NativeMemory.putInt(end - Ddp.CRC_LENGTH, 0);
        }
    }

    // ---- after the send

    /** Completes what went; returns how many segments of the batch that were. */
    private int settle(TransmitBatch batch, long sent) {
        if (sent > 0) {
            residue.clear();
        }
        int segment = 0;
        while (segment < batch.segments() && batch.end(segment) <= sent) {
            completed(batch.kind(segment), batch.sequence(segment), batch.isLast(segment));
            segment++;
        }
        return segment;
    }

    private void completed(SegmentKind kind, long sequence, boolean last) {
        engine.counters().increment(kind.counter());
        switch (kind) {
            case READ_RESPONSE -> {
                if (last && !inboundReads.isEmpty()) {
                    engine.counters().increment(Counter.RESPONDER_READS);
                    engine.counters()
                            .add(Counter.RESPONDER_READ_BYTES, inboundReads.length(inboundReads.slot(sequence)));
                    inboundReads.complete();
                }
            }
            case WRITE, SEND -> {
                if (last) {
                    connection.requestSent(sequence);
                }
            }
            case TERMINATE -> connection.terminateSent();
            case READY_TO_RECEIVE, READ_REQUEST -> {
                // Nothing waits for these.
            }
        }
    }

    /** Moves the cursors back to the first segment that did not go whole; keeps the rest of one that went in part. */
    private void takeBack(TransmitBatch batch, int firstIncomplete, long sent) {
        long start = firstIncomplete == 0 ? 0 : batch.end(firstIncomplete - 1);
        boolean inPart = sent > start || (firstIncomplete == 0 && !residue.isEmpty());
        if (inPart) {
            residue.describe(
                    batch.kind(firstIncomplete),
                    batch.sequence(firstIncomplete),
                    batch.isLast(firstIncomplete),
                    batch.offsetBefore(firstIncomplete));
            batch.saveRest(sent, batch.end(firstIncomplete), residue, engine.stags());
            if (!requestsAllowed && residue.isRequest()) {
                residue.own(engine);
            }
        }
        for (int i = batch.segments() - 1; i >= firstIncomplete + (inPart ? 1 : 0); i--) {
            takeBack(batch, i);
        }
    }

    private void takeBack(TransmitBatch batch, int segment) {
        long sequence = batch.sequence(segment);
        switch (batch.kind(segment)) {
            case READY_TO_RECEIVE -> readyToReceivePending = true;
            case READ_RESPONSE -> {
                inboundReads.cursor(sequence);
                responseOffset = batch.offsetBefore(segment);
                responseBinding = responseOffset > 0 ? batch.messageBinding(segment) : null;
            }
            case READ_REQUEST -> {
                if (requestsAllowed) {
                    sends.cursor(sequence);
                    outboundReads.undo();
                    faultSequence = -1;
                }
            }
            case WRITE, SEND -> {
                if (requestsAllowed) {
                    if (batch.isLast(segment) && batch.kind(segment) == SegmentKind.SEND) {
                        sendMsn--;
                    }
                    sends.cursor(sequence);
                    requestOffset = batch.offsetBefore(segment);
                    faultSequence = -1;
                }
            }
            case TERMINATE -> connection.terminateStaged(false);
        }
    }
}
