package org.softrdma.sim.queue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.Window;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;

/**
 * The send work requests of a queue pair, in posting order.
 *
 * <p>Four sequences move through a ring of slots: {@code freed <= retired <= cursor <= posted}. Posting writes a slot
 * and publishes it by moving {@code posted} (release; {@link #posted()} is the acquire). The engine sends at
 * {@code cursor}. A request is done when its bytes went to TCP, a READ or an atomic when its data has arrived; {@code retired} moves
 * over done requests in order and pushes their completions. Polling a completion moves {@code freed} over all requests
 * up to it: unsignalled requests keep their slots until then, as on hardware.
 *
 * <p>A READ that the posting thread has done itself ({@link #completeOutOfBand}) has no slot, because nobody else ever looks at
 * it, but it takes the place of one until its completion, or a later one, is polled. It may be done only while every
 * request before it is retired, and a peer that was sent something has answered since ({@link #isSettled}).
 *
 * <p>Threads: posting holds the queue pair's post lock; the polling thread moves {@code freed} under its completion
 * queue's lock; the engine does everything else.
 */
public final class SendQueue {
    private static final VarHandle POSTED;
    private static final VarHandle FREED;
    private static final VarHandle OUT_OF_BAND_FREED;
    private static final VarHandle RETIRED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            POSTED = lookup.findVarHandle(SendQueue.class, "posted", long.class);
            FREED = lookup.findVarHandle(SendQueue.class, "freed", long.class);
            OUT_OF_BAND_FREED = lookup.findVarHandle(SendQueue.class, "outOfBandFreed", long.class);
            RETIRED = lookup.findVarHandle(SendQueue.class, "retired", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int OPERANDS = 2;
    private static final long[] NO_OPERANDS = {};
    private static final SendOpcode[] OPCODES = SendOpcode.values();

    private final CompletionSource source;
    private final SoftCompletionQueue completions;
    private final boolean signalAll;
    private final boolean relaxedReads;
    private final int mask;
    private final int maxInline;
    private final MemoryOperations memory;
    private final MemorySegment inlineMemory;
    /** Null without inline data, and once closed. */
    private @Nullable Arena inlineArena;

    // Slots: written by posting, read by the engine.
    private final long[] wrIds;
    private final long[] remoteAddresses;
    private final int[] rkeys;
    private final byte[] opcodes;
    private final byte[] flags;
    private final EntryTable entries;
    /** Two for each slot: what an atomic adds or expects, and puts in its place; an immediate. From the first one on. */
    private long[] operands = NO_OPERANDS;
    /** Windows of the slots that bind one; empty before the first. */
    private Window[] windows = {};
    /** Where the datagrams of the slots go; empty before the first. */
    private AddressHandle[] destinations = {};

    // Posting.
    private long posted;
    /** READs that posting threads have done. */
    private long outOfBand;
    /** Behind the last request that a peer must be known to have placed before it is read without asking it. */
    private long oneWay;
    /** For each place the sequence behind the requests before such a READ; empty before the first. */
    private long[] postedBefore = {};
    /** For each slot the number of such READs before its request. */
    private long[] outOfBandBefore = {};
    // Polling.
    private long freed;
    private long outOfBandFreed;
    // Engine.
    private final byte[] done;
    private long cursor;
    private long retired;
    /** Requests before this sequence are placed at the peer: one behind them was answered. Published with {@code retired}. */
    private long proven;
    /** Behind the last retired request without an answer. */
    private long oneWayRetired;
    /** Requests before this sequence were discarded: their slots are free, also if no completion tells. */
    private volatile long discarded;

    /**
     * An empty queue.
     *
     * @param source the queue pair
     * @param completions where its completions go
     * @param limits sizes of the queue pair; the number of send work requests is a power of two
     * @param signalAll every request produces a completion
     * @param relaxedReads a READ need not wait until what the peer was sent before is placed
     * @param memory of the device
     */
    public SendQueue(
            CompletionSource source,
            SoftCompletionQueue completions,
            QueuePairLimits limits,
            boolean signalAll,
            boolean relaxedReads,
            MemoryOperations memory) {
        this.source = source;
        this.completions = completions;
        this.signalAll = signalAll;
        this.relaxedReads = relaxedReads;
        this.memory = memory;
        maxInline = limits.maxInline();
        int capacity = limits.maxSendWorkRequests();
        mask = capacity - 1;
        wrIds = new long[capacity];
        remoteAddresses = new long[capacity];
        rkeys = new int[capacity];
        opcodes = new byte[capacity];
        flags = new byte[capacity];
        done = new byte[capacity];
        entries = new EntryTable(capacity, limits.maxSendScatterGather());
        if (maxInline > 0) {
            Arena arena = Arena.ofShared();
            inlineMemory = memory.allocate((long) capacity * maxInline, Long.BYTES, arena);
            inlineArena = arena;
        } else {
            inlineMemory = MemorySegment.NULL;
        }
    }

    // ---- posting, under the post lock

    /** True if there is a free slot. */
    public boolean hasRoom() {
        long free = Math.max((long) FREED.getAcquire(this), discarded);
        return posted - free + outOfBand - (long) OUT_OF_BAND_FREED.getAcquire(this) <= mask;
    }

    /** How many requests were accepted. */
    public long accepted() {
        return posted + outOfBand;
    }

    /** True if every request before is retired, and what the peer was sent is known to be placed. */
    public boolean isSettled() {
        return (long) RETIRED.getAcquire(this) == posted && proven >= oneWay;
    }

    /** The posting thread has done a READ; only if {@link #hasRoom} and {@link #isSettled}. Pushes its completion. */
    public void completeOutOfBand(long wrId, int requestFlags, long length) {
        if (postedBefore.length == 0) {
            postedBefore = new long[mask + 1];
            outOfBandBefore = new long[mask + 1];
        }
        postedBefore[(int) outOfBand & mask] = posted;
        outOfBand++;
        if (signalAll || (requestFlags & SendFlags.SIGNALLED) != 0) {
            CompletionOpcode opcode = SendOpcode.READ.completion();
            completions.push(source, wrId, CompletionStatus.SUCCESS, opcode, length, 0, -outOfBand, false);
        }
    }

    /** Before the next slot is published. */
    private void accept(SendOpcode opcode) {
        if (outOfBandBefore.length > 0) {
            outOfBandBefore[(int) posted & mask] = outOfBand;
        }
        if (!opcode.isAnswered() && !relaxedReads) {
            oneWay = posted + 1;
        }
    }

    /** Fills the next slot with a request and publishes it. */
    public PostStatus post(SendWorkRequest request) {
        if (!hasRoom()) {
            return PostStatus.QUEUE_FULL;
        }
        int slot = (int) posted & mask;
        entries.set(slot, request.local());
        wrIds[slot] = request.wrId();
        remoteAddresses[slot] = request.remoteAddress();
        rkeys[slot] = request.rkey();
        opcodes[slot] = (byte) request.opcode().ordinal();
        flags[slot] = (byte) request.flags();
        if (hasOperands(request.opcode())) {
            putOperands(slot, request);
        }
        AddressHandle host = request.addressHandle();
        if (host != null) {
            putDestination(slot, host, request);
        }
        if ((request.flags() & SendFlags.INLINE) != 0) {
            copyInline(slot);
        }
        accept(request.opcode());
        POSTED.setRelease(this, posted + 1);
        return PostStatus.ACCEPTED;
    }

    private static boolean hasOperands(SendOpcode opcode) {
        return opcode.isAtomic() || opcode == SendOpcode.WRITE_IMMEDIATE || opcode == SendOpcode.SEND_IMMEDIATE;
    }

    private void putOperands(int slot, SendWorkRequest request) {
        if (operands.length == 0) {
            operands = new long[wrIds.length * OPERANDS];
        }
        boolean atomic = request.opcode().isAtomic();
        operands[slot * OPERANDS] = atomic ? request.compareAdd() : request.immediate();
        operands[slot * OPERANDS + 1] = atomic ? request.swap() : 0;
    }

    /** Number and key are where other requests have address and key at the peer. */
    private void putDestination(int slot, AddressHandle host, SendWorkRequest request) {
        if (destinations.length == 0) {
            destinations = new AddressHandle[mask + 1]; // published with the slot
        }
        destinations[slot] = host;
        remoteAddresses[slot] = request.remoteNumber();
        rkeys[slot] = request.queueKey();
    }

    /**
     * Fills the next slot with the bind of a window and publishes it; only if {@link #hasRoom}.
     *
     * @param request with one local entry
     * @param window to be bound, which gets its next key
     * @param rights what the peer may do
     */
    public void postBind(SendWorkRequest request, Window window, int rights) {
        int slot = (int) posted & mask;
        if (windows.length == 0) {
            windows = new Window[mask + 1]; // published with the slot
        }
        entries.set(slot, request.local());
        wrIds[slot] = request.wrId();
        remoteAddresses[slot] = rights;
        rkeys[slot] = window.nextKey();
        windows[slot] = window;
        opcodes[slot] = (byte) SendOpcode.BIND_WINDOW.ordinal();
        flags[slot] = (byte) request.flags();
        accept(SendOpcode.BIND_WINDOW);
        POSTED.setRelease(this, posted + 1);
    }

    private void copyInline(int slot) {
        if (entries.total(slot) > maxInline) {
            throw new IllegalStateException("inline length=" + entries.total(slot) + " > " + maxInline
                    + ": the request was changed while it was being posted");
        }
        if (inlineArena == null && maxInline > 0) {
            throw new IllegalStateException("the queue pair is closed");
        }
        long at = inlineAddress(slot);
        for (int i = 0; i < entries.count(slot); i++) {
            memory.copy(entries.address(slot, i), at, entries.length(slot, i));
            at += entries.length(slot, i);
        }
    }

    /** Frees its memory. Nothing is posted or sent afterwards. */
    public void close() {
        Arena arena = inlineArena;
        if (arena != null) {
            inlineArena = null;
            arena.close();
        }
    }

    // ---- polling

    /**
     * A completion was polled: what was posted before it is free.
     *
     * @param sequence of the completion: of a slot, or negative as {@link #completeOutOfBand} has pushed it
     */
    public void free(long sequence) {
        if (sequence < 0) {
            free(postedBefore[(int) (-sequence - 1) & mask], -sequence);
        } else {
            free(sequence, outOfBandBefore.length == 0 ? 0 : outOfBandBefore[(int) (sequence - 1) & mask]);
        }
    }

    private void free(long slots, long outside) {
        if (slots > freed) {
            FREED.setRelease(this, slots);
        }
        if (outside > outOfBandFreed) {
            OUT_OF_BAND_FREED.setRelease(this, outside);
        }
    }

    // ---- engine

    /** Sequence behind the last request posted. */
    public long posted() {
        return (long) POSTED.getAcquire(this);
    }

    /** Sequence of the request to be sent next. */
    public long cursor() {
        return cursor;
    }

    /** Moves the cursor, forward as requests are put on the wire, back when a short write did not take them. */
    public void cursor(long sequence) {
        cursor = sequence;
    }

    /** True if a request waits to be sent. */
    public boolean hasUnsent() {
        return cursor < posted();
    }

    /** Sequence of the oldest request without a completion yet, or -1. */
    public long oldest() {
        return retired < posted() ? retired : -1;
    }

    /** The slot of a sequence. */
    public int slot(long sequence) {
        return (int) sequence & mask;
    }

    /** The number that a request was posted with, while its slot is not free. */
    public long wrId(long sequence) {
        return wrIds[slot(sequence)];
    }

    /** What a request does. */
    public SendOpcode opcode(int slot) {
        return OPCODES[opcodes[slot]];
    }

    /** True if a request has a flag of {@link SendFlags}. */
    public boolean hasFlag(int slot, int flag) {
        return (flags[slot] & flag) != 0;
    }

    /** First address at the peer. */
    public long remoteAddress(int slot) {
        return remoteAddresses[slot];
    }

    /** The peer's key. */
    public int rkey(int slot) {
        return rkeys[slot];
    }

    /** What an atomic adds or expects. */
    public long compareAdd(int slot) {
        return operands[slot * OPERANDS];
    }

    /** What a compare-and-swap puts in its place. */
    public long swap(int slot) {
        return operands[slot * OPERANDS + 1];
    }

    /** The immediate of a SEND or WRITE with one. */
    public int immediate(int slot) {
        return (int) operands[slot * OPERANDS];
    }

    /** The window that a request binds; its rights are where others have the address at the peer. */
    public Window window(int slot) {
        Window window = windows[slot];
        if (window == null) {
            throw new IllegalStateException("slot " + slot + " binds no window");
        }
        return window;
    }

    /** The host that a datagram goes to. */
    public AddressHandle destination(int slot) {
        return destinations[slot];
    }

    /** Number of the queue pair that a datagram goes to. */
    public int remoteNumber(int slot) {
        return (int) remoteAddresses[slot];
    }

    /** The queue key that a datagram carries, as it was posted. */
    public int queueKey(int slot) {
        return rkeys[slot];
    }

    /** Local entries. */
    public EntryTable entries() {
        return entries;
    }

    /** Address of a request's inline data. */
    public long inlineAddress(int slot) {
        return inlineMemory.address() + (long) slot * maxInline;
    }

    /**
     * True if every request before the cursor is retired, and what the peer was sent is known to be placed; or if READs
     * need not care.
     */
    public boolean isSettledAtCursor() {
        return relaxedReads || (retired == cursor && proven >= oneWayRetired);
    }

    /** A request succeeded: pushes its completion and those of done requests behind it, in order. */
    public void complete(long sequence) {
        done[(int) sequence & mask] = 1;
        while (retired < cursor && done[(int) retired & mask] != 0) {
            retire();
        }
    }

    /**
     * Ends every request that has not given its completion: one with a cause, the others flushed.
     *
     * @param culprit sequence of the request that failed, or -1 for none
     * @param status why it failed
     * @param vendorCode more about it
     */
    public void flush(long culprit, CompletionStatus status, int vendorCode) {
        long end = posted();
        cursor = end;
        while (retired < end) {
            long sequence = retired; // first, so that no request is flushed twice if something fails
            RETIRED.setRelease(this, sequence + 1);
            int slot = (int) sequence & mask;
            completions.push(
                    source,
                    wrIds[slot],
                    sequence == culprit ? status : CompletionStatus.FLUSHED,
                    CompletionOpcode.SEND,
                    0,
                    vendorCode,
                    sequence + 1,
                    false);
        }
    }

    /** Forgets every request, without a completion. While nothing is posted. */
    public void discard() {
        long end = posted();
        Arrays.fill(done, (byte) 0);
        cursor = end;
        proven = end;
        oneWayRetired = end;
        RETIRED.setRelease(this, end);
        discarded = end;
    }

    private void retire() {
        int slot = (int) retired & mask;
        done[slot] = 0;
        if (signalAll || (flags[slot] & SendFlags.SIGNALLED) != 0) {
            completions.push(
                    source,
                    wrIds[slot],
                    CompletionStatus.SUCCESS,
                    OPCODES[opcodes[slot]].completion(),
                    entries.total(slot),
                    0,
                    retired + 1,
                    false);
        }
        long next = retired + 1;
        if (OPCODES[opcodes[slot]].isAnswered()) {
            proven = next;
        } else {
            oneWayRetired = next;
        }
        RETIRED.setRelease(this, next); // last: pairs with the acquire of isSettled
    }
}
