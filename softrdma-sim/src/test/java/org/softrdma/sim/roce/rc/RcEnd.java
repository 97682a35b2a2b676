package org.softrdma.sim.roce.rc;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.queue.RecordingSource;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.queue.SoftCompletionQueue;
import org.softrdma.sim.queue.StillProgress;
import org.softrdma.sim.roce.wire.Aeth;
import org.softrdma.sim.roce.wire.AtomicEth;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.PacketCheck;
import org.softrdma.sim.roce.wire.Reth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.WorkCompletion;

/**
 * One end of a reliable connection for tests: its requester and responder, memory that the peer reaches by {@link #KEY},
 * and packets as byte arrays, as they would lie in datagrams but for the ICRC.
 */
final class RcEnd implements ResponderTarget {
    /** Of all memory. */
    static final int KEY = 0x1234_5601;

    static final int SLOTS = 16;
    private static final int LKEY = 1;
    private static final int COMPLETIONS = 256;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(SLOTS, SLOTS, 1, 1, 0);

    /** What the peer's requests act on; its first address is what they name. */
    final MemorySegment remote;
    /** What this end sends from and reads into. */
    final MemorySegment local;

    final Requester requester;
    final Responder responder;
    final SendQueue sends;
    final AnswerQueue answers;
    /** Messages as they completed RECVs. */
    final List<String> messages = new ArrayList<>();

    final List<CompletionStatus> failedReceives = new ArrayList<>();
    /** Keys that the peer may invalidate. */
    final Set<Integer> keys = new HashSet<>();

    int receives;
    /** How often it was told that it may READ. */
    int calls;

    boolean writable = true;
    int atomicsExecuted;
    private long original;
    /** No memory may be read. */
    boolean takenBack;
    /** The memory is that of a process that has ended. */
    boolean ended;

    private final SoftCompletionQueue completions =
            new SoftCompletionQueue(COMPLETIONS, new StillProgress(), null, () -> {});
    private final MemorySegment scratch = Arena.ofAuto().allocate(RocePacket.MAX_LENGTH, Long.BYTES);
    private final MemorySegment receiveBuffer;
    private final long receiveBytes;

    RcEnd(RcSettings settings, int firstSent, int firstExpected, long memoryBytes, long receiveBytes) {
        this(settings, firstSent, firstExpected, memoryBytes, receiveBytes, new ReadBudget(Long.MAX_VALUE));
    }

    RcEnd(
            RcSettings settings,
            int firstSent,
            int firstExpected,
            long memoryBytes,
            long receiveBytes,
            ReadBudget budget) {
        this.receiveBytes = receiveBytes;
        remote = Arena.ofAuto().allocate(memoryBytes, Long.BYTES);
        local = Arena.ofAuto().allocate(memoryBytes, Long.BYTES);
        receiveBuffer = Arena.ofAuto().allocate(Math.max(1, receiveBytes));
        RecordingSource source = new RecordingSource(1);
        sends = new SendQueue(source, completions, LIMITS, true, true, new MemoryOperations());
        source.sendQueue(sends::free);
        requester = new Requester(sends, SLOTS, settings, firstSent, budget.share(() -> calls++));
        answers = new AnswerQueue(settings.inboundReads(), settings.transferUnit());
        responder = new Responder(this, settings, answers, firstExpected);
    }

    // ---- the application

    /** Posts a request over part of {@link #local}; false if the queue is full. */
    boolean post(SendWorkRequest request, long offset, long length) {
        return sends.post(request.add(local.address() + offset, length, LKEY)) == PostStatus.ACCEPTED;
    }

    /** Polls what there is. */
    List<WorkCompletion> poll() {
        WorkCompletion[] polled = WorkCompletion.array(COMPLETIONS);
        int count = completions.poll(polled);
        return List.of(polled).subList(0, count);
    }

    /** What the queue pair does when its requester has failed. */
    void flushIfFailed() {
        CompletionStatus failure = requester.failure();
        if (failure != null) {
            sends.flush(requester.culprit(), failure, 0);
        }
    }

    // ---- the network

    /** Takes a packet from the peer. */
    void receive(byte[] packet, long nowNs) {
        NativeMemory.put(scratch.address(), packet);
        long at = scratch.address();
        if (RocePacket.check(at, packet.length) != PacketCheck.VALID) {
            throw new IllegalStateException("malformed packet");
        }
        int opcode = Bth.opcode(at);
        int psn = Bth.psn(at);
        if (!RoceOpcode.isResponse(opcode)) {
            responder.onRequest(at, packet.length);
        } else if (opcode == RoceOpcode.ACKNOWLEDGE) {
            requester.onAcknowledgement(psn, Aeth.syndrome(at), nowNs);
        } else if (opcode == RoceOpcode.ATOMIC_ACKNOWLEDGE) {
            if (requester.onAtomicResponse(psn, nowNs)) {
                NativeMemory.putNativeLong(sink(), AtomicEth.original(at));
                requester.responsePlaced(nowNs);
            }
        } else {
            int length = RocePacket.payloadLength(at, packet.length);
            if (requester.onReadResponse(opcode, psn, length, nowNs)) {
                NativeMemory.copy(at + RoceOpcode.headerLength(opcode), sink() + requester.responseOffset(), length);
                requester.responsePlaced(nowNs);
            }
        }
    }

    private long sink() {
        return sends.entries().address(sends.slot(requester.responseSequence()), 0);
    }

    /** The next answer, or the next request if no answer is due; empty if there is neither. */
    byte[] send(long nowNs) {
        return answers.next() ? answer() : request(nowNs);
    }

    private byte[] answer() {
        int opcode = answers.opcode();
        int length = answers.payloadLength();
        long at = scratch.address();
        Bth.put(at, opcode, 0, length, 2, answers.psn());
        if (RoceOpcode.hasAeth(opcode)) {
            Aeth.put(at, answers.syndrome(), answers.msn());
        }
        if (opcode == RoceOpcode.ATOMIC_ACKNOWLEDGE) {
            AtomicEth.putOriginal(at, answers.original());
        }
        if (length > 0) {
            NativeMemory.copy(remote.address() + answers.address(), at + RoceOpcode.headerLength(opcode), length);
        }
        answers.sent();
        return NativeMemory.bytes(at, RocePacket.length(opcode, length));
    }

    /** The next request packet, or nothing. */
    byte[] request(long nowNs) {
        if (!requester.next(nowNs)) {
            return new byte[0];
        }
        if (requester.isLocal()) {
            requester.sent(nowNs);
            return request(nowNs);
        }
        long at = scratch.address();
        int slot = requester.slot();
        int opcode = requester.operation();
        int length = requester.payloadLength();
        Bth.put(at, opcode, 0, length, 2, requester.psn());
        if (requester.requestsAcknowledgement()) {
            Bth.requestAcknowledgement(at);
        }
        if (RoceOpcode.hasReth(opcode)) {
            boolean read = opcode == RoceOpcode.READ_REQUEST;
            long total = read ? requester.rest() : sends.entries().total(slot);
            Reth.put(at, sends.remoteAddress(slot) + (read ? requester.offset() : 0), sends.rkey(slot), (int) total);
        }
        if (RoceOpcode.isAtomic(opcode)) {
            boolean add = opcode == RoceOpcode.FETCH_ADD;
            AtomicEth.put(
                    at,
                    sends.remoteAddress(slot),
                    sends.rkey(slot),
                    add ? sends.compareAdd(slot) : sends.swap(slot),
                    add ? 0 : sends.compareAdd(slot));
        }
        if (RoceOpcode.hasImmediate(opcode)) {
            RocePacket.putLastWord(at, opcode, sends.immediate(slot));
        } else if (RoceOpcode.hasInvalidate(opcode)) {
            RocePacket.putLastWord(at, opcode, sends.rkey(slot));
        }
        if (length > 0) {
            long from = sends.entries().address(slot, 0) + requester.offset();
            NativeMemory.copy(from, at + RoceOpcode.headerLength(opcode), length);
        }
        requester.sent(nowNs);
        return NativeMemory.bytes(at, RocePacket.length(opcode, length));
    }

    // ---- what requests act on

    @Override
    public boolean serves(int opcode) {
        return true;
    }

    @Override
    public boolean hasReceive() {
        return receives > 0;
    }

    @Override
    public long receiveLength() {
        return receiveBytes;
    }

    @Override
    public boolean placeInReceive(long offset, long payload, int length) {
        NativeMemory.copy(payload, receiveBuffer.address() + offset, length);
        return true;
    }

    @Override
    public void completeReceive(long length, boolean solicited) {
        received("SEND", length, "");
    }

    @Override
    public void completeInvalidating(long length, boolean solicited, int key) {
        received("SEND", length, " invalidates " + key);
    }

    @Override
    public void completeImmediate(long length, int immediate, boolean solicited, boolean write) {
        received(write ? "WRITE" : "SEND", write ? 0 : length, " immediate " + immediate);
    }

    private void received(String kind, long length, String more) {
        receives--;
        messages.add(kind + " " + checksum(receiveBuffer.asSlice(0, length)) + more);
    }

    /** Length and content of memory, short. */
    static String checksum(MemorySegment bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes.asByteBuffer());
        return bytes.byteSize() + ":" + crc.getValue();
    }

    @Override
    public void failReceive(CompletionStatus status) {
        failedReceives.add(status);
    }

    @Override
    public boolean invalidate(int key) {
        return keys.remove(key);
    }

    private boolean isWithin(int rkey, long address, long length) {
        return rkey == KEY && writable && address >= 0 && address + length <= remote.byteSize();
    }

    @Override
    public boolean completeWrite(long length) {
        return true;
    }

    @Override
    public boolean mayWrite(int rkey, long address, long length) {
        return isWithin(rkey, address, length);
    }

    @Override
    public boolean write(int rkey, long address, long payload, int length) {
        if (!isWithin(rkey, address, length)) {
            return false;
        }
        NativeMemory.copy(payload, remote.address() + address, length);
        return true;
    }

    @Override
    public boolean mayRead(int rkey, long address, long length) {
        return !takenBack && isWithin(rkey, address, length);
    }

    @Override
    public boolean mayChangeWord(int rkey, long address) {
        return isWithin(rkey, address, Long.BYTES);
    }

    @Override
    public boolean fetchAndAdd(int rkey, long address, long operand) {
        atomicsExecuted++;
        original = NativeMemory.getNativeLong(remote.address() + address);
        NativeMemory.putNativeLong(remote.address() + address, original + operand);
        return true;
    }

    @Override
    public boolean compareAndSwap(int rkey, long address, long expected, long replacement) {
        atomicsExecuted++;
        original = NativeMemory.getNativeLong(remote.address() + address);
        if (original == expected) {
            NativeMemory.putNativeLong(remote.address() + address, replacement);
        }
        return true;
    }

    @Override
    public long original() {
        return original;
    }

    @Override
    public boolean ownerHasEnded() {
        return ended;
    }

    /** Everything that can be sent now, in order. */
    List<byte[]> sendAll(long nowNs) {
        Deque<byte[]> sent = new ArrayDeque<>();
        for (byte[] packet = send(nowNs); packet.length > 0; packet = send(nowNs)) {
            sent.addLast(packet);
        }
        return List.copyOf(sent);
    }

    /** The opcode of a packet. */
    static int opcode(byte[] packet) {
        return packet[0] & 0xFF;
    }

    /** The PSN of a packet. */
    static int psn(byte[] packet) {
        return (packet[9] & 0xFF) << 16 | (packet[10] & 0xFF) << 8 | (packet[11] & 0xFF);
    }
}
