package org.softrdma.sim.roce;

import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.Placement;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.link.WindowRequests;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.memory.StreamWindows;
import org.softrdma.sim.queue.ReceiveQueue;
import org.softrdma.sim.roce.unreliable.UnreliableTarget;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.verbs.CompletionStatus;

/** What the requests of a peer act on: the memory of the device, and the receive queue of the queue pair. Inside a batch. */
final class PeerTarget implements UnreliableTarget {
    private static final int WORD_MASK = Long.BYTES - 1;
    private static final long NO_WORD = 0;

    private final RnicEngine engine;
    private final QueuePairEnd queuePair;
    private final Counters<Counter> counters;
    private final StagTable stags;
    private final MemoryOperations memory;
    private final ReceiveQueue receives;
    private final StreamWindows windows;
    private final WindowRequests windowRequests;
    private final int domain;
    private final Placement placement;
    private final ScatterPlacement received;

    /** An access was refused, which ends the connection. */
    private boolean accessRefused;

    private boolean ownerEnded;

    // The answer to a READ that is being sent: all of it is read from the memory that it began with.
    private @Nullable Binding source;
    private long sourceBase;
    /** Address of a word of which the last packet had the beginning only; what it was is in {@link #word}. */
    private long splitWord = NO_WORD;

    private final PacketMemory word;

    /** What the word of the last atomic was. */
    private final PacketMemory original;

    PeerTarget(RnicEngine engine, QueuePairEnd queuePair, WindowRequests windowRequests) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.windowRequests = windowRequests;
        counters = engine.counters();
        stags = engine.stags();
        memory = engine.memory();
        receives = queuePair.receiveQueue();
        windows = queuePair.windows();
        domain = queuePair.domainNumber();
        placement = new Placement(engine);
        received = new ScatterPlacement(engine, placement, receives.entries(), receives.domain(domain));
        word = new PacketMemory(memory, Long.BYTES);
        original = new PacketMemory(memory, Long.BYTES);
    }

    /** True if it was for an access that a request was refused. */
    boolean isAccessRefused() {
        return accessRefused;
    }

    @Override
    public boolean serves(int opcode) {
        int needed = AccessRights.NONE;
        if (RoceOpcode.isWrite(opcode)) {
            needed = AccessRights.REMOTE_WRITE;
        } else if (opcode == RoceOpcode.READ_REQUEST) {
            needed = AccessRights.REMOTE_READ;
        } else if (RoceOpcode.isAtomic(opcode)) {
            needed = AccessRights.REMOTE_ATOMIC;
        }
        return (queuePair.remoteRights() & needed) == needed;
    }

    // ---- SEND

    @Override
    public boolean hasReceive() {
        return receives.hasNext();
    }

    @Override
    public long receiveLength() {
        return receives.entries().total(receives.slot());
    }

    @Override
    public boolean placeInReceive(long offset, long payload, int length) {
        boolean placed = received.put(receives.slot(), offset, payload, length);
        ownerEnded |= !placed && placement.ownerHasEnded();
        return placed;
    }

    @Override
    public void completeReceive(long length, boolean solicited) {
        endOfSend();
        receives.complete(length, solicited);
    }

    @Override
    public void completeInvalidating(long length, boolean solicited, int key) {
        endOfSend();
        receives.completeInvalidating(length, solicited, key);
    }

    @Override
    public void completeImmediate(long length, int immediate, boolean solicited, boolean write) {
        counters.increment(Counter.RESPONDER_IMMEDIATES);
        if (write) {
            receives.completeImmediate(length, immediate, solicited);
        } else {
            endOfSend();
            receives.completeSendImmediate(length, immediate, solicited);
        }
    }

    /** Its last bytes came in this batch, so they may be placed. */
    private void endOfSend() {
        boolean ignored = placement.complete();
        counters.increment(Counter.RESPONDER_SENDS);
    }

    @Override
    public void completeDatagram(long length, int source, int immediate, boolean hasImmediate, boolean solicited) {
        endOfSend();
        receives.completeDatagram(length, source, immediate, hasImmediate, solicited);
    }

    @Override
    public void abandonMessage() {
        placement.abandon();
    }

    @Override
    public void failReceive(CompletionStatus status) {
        receives.fail(status, 0);
    }

    @Override
    public boolean invalidate(int key) {
        boolean done = windowRequests.invalidate(key);
        accessRefused |= !done;
        return done;
    }

    // ---- WRITE

    private int granted(int rkey, int rights, long address, long length) {
        int row = stags.findRemote(rkey);
        AccessResult result = stags.check(row, domain, rights, address, length);
        if (result == AccessResult.WRONG_DOMAIN) {
            result = windows.check(row, rights, address, length);
        }
        if (result == AccessResult.GRANTED) {
            return row;
        }
        accessRefused = true;
        counters.increment(Counter.ACCESS_ERRORS);
        return -1;
    }

    /** What could not be reached in another process is an access that was refused. */
    private boolean wasReached(boolean reached, Binding region) {
        if (!reached) {
            accessRefused = true;
            ownerEnded |= region.ownerHasEnded();
            counters.increment(Counter.ACCESS_ERRORS);
        }
        return reached;
    }

    @Override
    public boolean mayWrite(int rkey, long address, long length) {
        return granted(rkey, AccessRights.REMOTE_WRITE, address, length) >= 0;
    }

    @Override
    public boolean write(int rkey, long address, long payload, int length) {
        int row = granted(rkey, AccessRights.REMOTE_WRITE, address, length);
        if (row < 0) {
            return false;
        }
        placement.begin(length);
        placement.run(row, address, length);
        return wasReached(placement.put(payload, length), stags.binding(row));
    }

    @Override
    public boolean completeWrite(long length) {
        if (!placement.complete()) {
            accessRefused = true;
            return false;
        }
        counters.increment(Counter.RESPONDER_WRITES);
        counters.add(Counter.RESPONDER_WRITE_BYTES, length);
        return true;
    }

    // ---- READ

    @Override
    public boolean mayRead(int rkey, long address, long length) {
        return granted(rkey, AccessRights.REMOTE_READ, address, length) >= 0;
    }

    /**
     * Reads the payload of a packet of an answer.
     *
     * @param begins it is the first of its answer
     * @param rkey that the peer has named
     * @param address of the payload, as the peer names it
     * @param target where the payload goes
     * @param length bytes, more than 0
     * @param rest bytes of the answer from there on, at least {@code length}
     * @return false if it may not be read any more
     */
    boolean read(boolean begins, int rkey, long address, long target, int length, long rest) {
        if (begins) {
            splitWord = NO_WORD;
            int row = granted(rkey, AccessRights.REMOTE_READ, address, rest);
            if (row < 0) {
                source = null;
                return false;
            }
            Binding found = stags.binding(row);
            source = found;
            sourceBase = found.address() + stags.offset(row, address) - address;
        }
        Binding begun = source;
        if (begun == null || !begun.isAlive()) {
            accessRefused = true;
            return false;
        }
        long from = sourceBase + address;
        engine.use(begun, from, Math.min(rest, length + Long.BYTES));
        if (begun.isPolled()) {
            copyWords(from, target, length, rest);
            return true;
        }
        return wasReached(memory.copyFrom(begun, from, target, length), begun);
    }

    /** A word that lies across the border to the next packet is read once, for both. */
    private void copyWords(long from, long target, int length, long rest) {
        int begun = (int) (from & WORD_MASK);
        int head = begun > 0 && splitWord == from - begun ? Math.min(length, Long.BYTES - begun) : 0;
        NativeMemory.copy(word.address() + begun, target, head);
        long end = from + length;
        int tail = (int) (end & WORD_MASK);
        boolean splits = tail > 0 && tail <= length - head && rest - length >= Long.BYTES - tail;
        memory.copyFromPolled(from + head, target + head, length - head - (splits ? tail : 0));
        splitWord = NO_WORD;
        if (splits) {
            splitWord = end - tail;
            memory.copyFromPolled(splitWord, word.address(), Long.BYTES);
            NativeMemory.copy(word.address(), target + length - tail, tail);
        }
    }

    /**
     * An answer to a READ is on its way.
     *
     * @param length its bytes
     * @param again the peer has asked for it before
     */
    void answered(long length, boolean again) {
        source = null;
        if (!again) {
            counters.increment(Counter.RESPONDER_READS);
            counters.add(Counter.RESPONDER_READ_BYTES, length);
        }
    }

    // ---- atomics

    @Override
    public boolean mayChangeWord(int rkey, long address) {
        int row = granted(rkey, AccessRights.REMOTE_ATOMIC, address, Long.BYTES);
        return row >= 0 && (stags.rawAddress(row, address) & Long.BYTES - 1) == 0;
    }

    @Override
    public boolean fetchAndAdd(int rkey, long address, long operand) {
        int row = stags.findRemote(rkey);
        long at = word(row, address);
        Binding region = stags.binding(row);
        return wasReached(memory.fetchAndAdd(region, at, operand, original.address()), region);
    }

    @Override
    public boolean compareAndSwap(int rkey, long address, long expected, long replacement) {
        int row = stags.findRemote(rkey);
        long at = word(row, address);
        Binding region = stags.binding(row);
        return wasReached(memory.compareAndSwap(region, at, expected, replacement, original.address()), region);
    }

    @Override
    public long original() {
        return NativeMemory.getNativeLong(original.address());
    }

    @Override
    public boolean ownerHasEnded() {
        return ownerEnded;
    }

    private long word(int row, long address) {
        counters.increment(Counter.RESPONDER_ATOMICS);
        long at = stags.rawAddress(row, address);
        engine.use(row, at, Long.BYTES);
        return at;
    }
}
