package org.softrdma.sim.roce.unreliable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.queue.RecordingSource;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.queue.SoftCompletionQueue;
import org.softrdma.sim.queue.StillProgress;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Reth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.WorkCompletion;

/**
 * One end of an unreliable connection for tests: its requester and responder, memory that the peer reaches by {@link
 * #KEY}, and packets as byte arrays, as they would lie in datagrams but for the ICRC.
 */
final class UnreliablePeer implements UnreliableTarget {
    /** Of the memory that the peer may write. */
    static final int KEY = 0x1234_5601;

    static final int UNIT = 256;
    private static final int SLOTS = 16;
    private static final int COMPLETIONS = 256;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(SLOTS, SLOTS, 1, 1, 0);

    /** What the peer's WRITEs change; its first address is 0. */
    final MemorySegment remote;
    /** What this end sends from. */
    final MemorySegment local;
    /** What the RECV at hand has. */
    final MemorySegment inbox;

    /** Messages as they completed RECVs, each by its bytes and what came with it. */
    final List<Received> messages = new ArrayList<>();

    final List<CompletionStatus> failedReceives = new ArrayList<>();
    final Counters<Drop> drops = new Counters<>(Drop.values(), Drop::label);
    private final Map<String, Long> taken = new HashMap<>();
    final UnreliableRequester requester;
    final UnreliableResponder responder;
    int receives;
    long receiveBytes;
    /** The memory of RECVs may be written. */
    boolean sinks = true;

    int writes;
    int abandoned;

    private final SendQueue sends;
    private final SoftCompletionQueue completions =
            new SoftCompletionQueue(COMPLETIONS, new StillProgress(), null, () -> {});
    private final MemorySegment scratch = Arena.ofAuto().allocate(RocePacket.MAX_LENGTH, Long.BYTES);

    /** What completed a RECV. */
    record Received(String kind, List<Byte> bytes, int immediate) {}

    UnreliablePeer(int firstSent, int firstExpected, int memoryBytes) {
        remote = Arena.ofAuto().allocate(memoryBytes, Long.BYTES);
        local = Arena.ofAuto().allocate(memoryBytes, Long.BYTES);
        inbox = Arena.ofAuto().allocate(memoryBytes, Long.BYTES);
        receiveBytes = memoryBytes;
        RecordingSource source = new RecordingSource(1);
        sends = new SendQueue(source, completions, LIMITS, true, true, new MemoryOperations());
        source.sendQueue(sends::free);
        requester = new UnreliableRequester(sends, RoceOpcode.UC, UNIT, firstSent);
        responder = new UnreliableResponder(this, UNIT, drops, firstExpected);
    }

    // ---- the application

    /** Posts a request over part of {@link #local}, and returns its packets. */
    List<byte[]> send(SendWorkRequest request, long offset, long length) {
        if (sends.post(request.add(local.address() + offset, length, 1)) != PostStatus.ACCEPTED) {
            throw new IllegalStateException("the send queue is full");
        }
        List<byte[]> packets = new ArrayList<>();
        while (requester.next()) {
            packets.add(packet());
            requester.sent();
        }
        return packets;
    }

    /** Packets dropped for a cause since this was last asked. */
    long dropped(Drop cause) {
        Map<String, Long> all = new HashMap<>();
        drops.addTo(all);
        long now = all.getOrDefault(cause.label(), 0L);
        Long before = taken.put(cause.label(), now);
        return now - (before == null ? 0 : before);
    }

    /** Polls what there is. */
    List<WorkCompletion> poll() {
        WorkCompletion[] polled = WorkCompletion.array(COMPLETIONS);
        int count = completions.poll(polled);
        return List.of(polled).subList(0, count);
    }

    private byte[] packet() {
        long at = scratch.address();
        int slot = requester.slot();
        int opcode = requester.opcode();
        int length = requester.payloadLength();
        Bth.put(at, opcode, 0, length, 2, requester.psn());
        if (RoceOpcode.hasReth(opcode)) {
            Reth.put(at, sends.remoteAddress(slot), sends.rkey(slot), (int)
                    sends.entries().total(slot));
        }
        if (RoceOpcode.hasImmediate(opcode)) {
            RocePacket.putLastWord(at, opcode, sends.immediate(slot));
        }
        long from = sends.entries().address(slot, 0) + requester.offset();
        NativeMemory.copy(from, at + RoceOpcode.headerLength(opcode), length);
        RocePacket.putPad(at, opcode, length);
        return NativeMemory.bytes(at, RocePacket.length(opcode, length));
    }

    // ---- the network

    /** Takes packets of the peer. */
    void receive(List<byte[]> packets) {
        packets.forEach(this::receive);
    }

    /** Takes a packet of the peer. */
    void receive(byte[] packet) {
        NativeMemory.put(scratch.address(), packet);
        responder.onPacket(scratch.address(), packet.length);
    }

    // ---- what messages act on

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
        if (sinks) {
            NativeMemory.copy(payload, inbox.address() + offset, length);
        }
        return sinks;
    }

    @Override
    public void completeReceive(long length, boolean solicited) {
        received("SEND", length, 0);
    }

    @Override
    public void completeInvalidating(long length, boolean solicited, int key) {
        throw new IllegalStateException("no unreliable connection invalidates");
    }

    @Override
    public void completeImmediate(long length, int immediate, boolean solicited, boolean write) {
        received(write ? "WRITE" : "SEND", write ? 0 : length, immediate);
    }

    @Override
    public void completeDatagram(long length, int source, int immediate, boolean hasImmediate, boolean solicited) {
        received("DATAGRAM of " + source + (hasImmediate ? " with" : ""), length, immediate);
    }

    private void received(String kind, long length, int immediate) {
        receives--;
        List<Byte> bytes = new ArrayList<>();
        for (byte each : inbox.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)) {
            bytes.add(each);
        }
        messages.add(new Received(kind, bytes, immediate));
    }

    @Override
    public void failReceive(CompletionStatus status) {
        failedReceives.add(status);
    }

    @Override
    public boolean mayWrite(int rkey, long address, long length) {
        return rkey == KEY && address >= 0 && address + length <= remote.byteSize();
    }

    @Override
    public boolean write(int rkey, long address, long payload, int length) {
        NativeMemory.copy(payload, remote.address() + address, length);
        return true;
    }

    @Override
    public boolean completeWrite(long length) {
        writes++;
        return true;
    }

    @Override
    public void abandonMessage() {
        abandoned++;
    }

    @Override
    public boolean invalidate(int key) {
        throw new IllegalStateException("no unreliable connection invalidates");
    }

    @Override
    public boolean mayRead(int rkey, long address, long length) {
        throw new IllegalStateException("no unreliable connection reads");
    }

    @Override
    public boolean mayChangeWord(int rkey, long address) {
        throw new IllegalStateException("no unreliable connection has atomics");
    }

    @Override
    public boolean fetchAndAdd(int rkey, long address, long operand) {
        throw new IllegalStateException("no unreliable connection has atomics");
    }

    @Override
    public boolean compareAndSwap(int rkey, long address, long expected, long replacement) {
        throw new IllegalStateException("no unreliable connection has atomics");
    }

    @Override
    public long original() {
        throw new IllegalStateException("no unreliable connection has atomics");
    }

    @Override
    public boolean ownerHasEnded() {
        return false;
    }
}
