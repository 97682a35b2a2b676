package org.softrdma.kv.client;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.memcached.AnswerDescriptor;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.kv.memcached.TouchReportDescriptor;
import org.softrdma.kv.store.ItemDescriptor;
import org.softrdma.kv.store.Locator;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * One connection's queue pair: READs items into slots of registered memory and checks what came. A slot is free, or holds a
 * READ of {@link KvClient#start} until its result was delivered, or belongs to a {@link GetRequest}, which may also have the
 * server write an item there; the last slot is kept for those. A READ that finds a forward locator is posted again once, into
 * the same slot. What was READ is reported to the server. Allocates nothing per READ. Owned by the thread of its loop.
 *
 * <p>Work request numbers: number of the reader in the upper half, then kind, then slot.
 */
final class RemoteReader implements AutoCloseable {
    private static final int KIND_SHIFT = 24;
    private static final int SLOT_MASK = (1 << KIND_SHIFT) - 1;
    private static final int KIND_READ = 0;
    private static final int KIND_RECEIVE = 1;
    private static final int KIND_HELLO = 2;
    private static final int KIND_TOUCH = 3;

    /** No slot is free. */
    static final int NO_SLOT = -1;

    /** An rget's opaque number is a count, and in its lower bits the slot. */
    private static final int OPAQUE_SHIFT = 16;

    private static final long OPAQUE_SLOT_MASK = (1L << OPAQUE_SHIFT) - 1;

    private static final int CONTROL_SLOT_LENGTH = 64;
    private static final int REPORT_LENGTH =
            (TouchReportDescriptor.MAX_LENGTH + CONTROL_SLOT_LENGTH - 1) / CONTROL_SLOT_LENGTH * CONTROL_SLOT_LENGTH;
    private static final int PAGE = 4096;
    private static final long WAIT_SLICE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final KvConnection connection;
    private final CompletionLoop loop;
    private final int index;
    private final int window;
    private final boolean reportsTouches;
    private final int maxItemLength;
    private final int slotLength;
    private final StagCache stags;
    private final Registration registration;
    private final KvClientCounters counters;
    private final ItemCheck check = new ItemCheck();

    private final CloseStack owned = new CloseStack();
    private final MemoryRegion sink;
    private final MemorySegment sinkSegment;
    private final ByteBuffer sinkView;
    private final MemoryRegion control;
    private final MemorySegment controlSegment;
    private final QueuePair queuePair;
    private final long helloOffset;
    private final TouchReporter touches;
    private final RemoteItem view = new RemoteItem();
    private final SendWorkRequestList batch;

    private final long[] hashes;
    private final long[] firsts;
    private final long[] seconds;
    private final long[] tags;
    private final byte[][] keys;
    private final boolean[] followed;
    private final ReadOutcome[] outcomes;
    private final @Nullable GetRequest[] owners;
    private final long[] opaques;
    private final long[] writtenLengths;
    private final int[] keyLengths;
    private final int[] valueLengths;
    private final int[] free;
    private int freeCount;
    private boolean lastSlotTaken;
    private final int[] ready;
    private int readyHead;
    private int readyCount;
    private int started;

    /** In the hands of a {@link ReadHandler}, which may lose the connection. */
    private int delivering = NO_SLOT;

    private boolean abandoned;

    private boolean bound;
    private long rgets;
    private int rgetsOutstanding;
    private final ClockEstimate clock = new ClockEstimate();
    private final long[] askedNs;
    private long helloNs;
    private long reportNs;

    private @Nullable String failure;

    /** Set by a thread of the device. */
    private volatile @Nullable String ended;

    RemoteReader(
            KvConnection connection,
            CompletionLoop loop,
            KvClientContext context,
            InetSocketAddress rdmaAddress,
            byte[] privateData,
            KnownItems known,
            Registration registration,
            KvClientCounters counters) {
        this.connection = connection;
        this.loop = loop;
        this.reportsTouches = context.touchReports();
        this.window = context.window();
        this.maxItemLength = context.maxItemLength();
        this.slotLength = (maxItemLength + PAGE - 1) & -PAGE;
        this.stags = known.stags();
        this.registration = registration;
        this.counters = counters;
        int slots = window + 1;
        hashes = new long[slots];
        firsts = new long[slots];
        seconds = new long[slots];
        tags = new long[slots];
        keys = new byte[slots][];
        followed = new boolean[slots];
        outcomes = new ReadOutcome[slots];
        owners = new GetRequest[slots];
        opaques = new long[slots];
        askedNs = new long[slots];
        writtenLengths = new long[slots];
        keyLengths = new int[slots];
        valueLengths = new int[slots];
        batch = new SendWorkRequestList(slots);
        free = new int[window];
        ready = new int[window];
        for (int i = 0; i < window; i++) {
            free[freeCount++] = window - 1 - i;
        }
        index = loop.add(this, completionsOf(window));
        owned.add(() -> loop.remove(index, completionsOf(window)));
        try {
            VerbsDevice device = loop.device();
            sinkSegment =
                    owned.add(device.allocateMemory((long) slots * slotLength)).segment();
            sinkView = sinkSegment.asByteBuffer();
            sink = owned.add(loop.domain()
                    .register(
                            sinkSegment,
                            EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.READ_SINK)));
            helloOffset = (long) receivesOf(window) * CONTROL_SLOT_LENGTH;
            long reportOffset = helloOffset + CONTROL_SLOT_LENGTH;
            controlSegment = owned.add(device.allocateMemory(reportOffset + REPORT_LENGTH))
                    .segment();
            touches = new TouchReporter(controlSegment, reportOffset, known.named(), counters);
            control = owned.add(loop.domain()
                    .register(controlSegment, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK)));
            queuePair = connect(device, context, rdmaAddress, privateData);
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
        queuePair.disconnected().thenAccept(reason -> ended = reason);
    }

    /** Completions that a reader with this window may have outstanding. */
    static int completionsOf(int window) {
        return sendsOf(window) + receivesOf(window);
    }

    /** READs of all slots, the hello and a touch report. */
    private static int sendsOf(int window) {
        return window + 3;
    }

    /** Answers to an rget for each slot, to the hello and to a touch report. */
    private static int receivesOf(int window) {
        return window + 3;
    }

    static int indexOf(long wrId) {
        return (int) (wrId >>> Integer.SIZE);
    }

    private QueuePair connect(
            VerbsDevice device, KvClientContext context, InetSocketAddress address, byte[] privateData) {
        try (Connector connector = device.resolve(address, context.connectTimeoutNs())) {
            QueuePair made = owned.add(connector.createQueuePair(
                    loop.domain(),
                    QueuePairAttributes.of(loop.queue(), QueuePairLimits.of(sendsOf(window), receivesOf(window)))));
            for (int i = 0; i < receivesOf(window); i++) {
                made.postReceive(wrId(KIND_RECEIVE, i), control, (long) i * CONTROL_SLOT_LENGTH, CONTROL_SLOT_LENGTH);
            }
            int reads = Math.min(window + 1, device.capabilities().maxOutboundReads());
            connector.connect(new ConnectionParameters(reads, 0, privateData), context.connectTimeoutNs());
            return made;
        }
    }

    /** Binds the queue pair to the memcached connection; the answer comes like those to rgets. */
    void sendHello(String token) {
        helloNs = System.nanoTime();
        HelloDescriptor.write(controlSegment, helloOffset, token);
        requireAccepted(queuePair.postSend(
                wrId(KIND_HELLO, 0), control, helloOffset, HelloDescriptor.LENGTH, SendFlags.SIGNALLED));
    }

    /** True once the server has answered the hello. */
    boolean isBound() {
        return bound;
    }

    /** Starts a READ of an item whose place is known, for {@link #deliver}. */
    StartStatus start(long hash, byte[] key, long tag) {
        int entry = stags.find(hash);
        if (entry == StagCache.NONE) {
            return StartStatus.UNKNOWN;
        }
        if (freeCount == 0) {
            return StartStatus.WINDOW_FULL;
        }
        int slot = free[freeCount - 1];
        if (!prepare(slot, entry, hash, key)) {
            return StartStatus.UNKNOWN;
        }
        freeCount--;
        started++;
        tags[slot] = tag;
        postRead(slot);
        return StartStatus.STARTED;
    }

    /** Takes a slot, or {@link #NO_SLOT}. */
    int acquire(GetRequest owner) {
        int slot;
        if (!lastSlotTaken) {
            slot = window;
            lastSlotTaken = true;
        } else if (freeCount > 0) {
            slot = free[--freeCount];
        } else {
            return NO_SLOT;
        }
        owners[slot] = owner;
        return slot;
    }

    /** Gives a slot back. */
    void release(int slot) {
        owners[slot] = null;
        if (slot == window) {
            lastSlotTaken = false;
        } else {
            free[freeCount++] = slot;
        }
    }

    /** True if {@link #acquire} would find a slot. */
    boolean hasFreeSlot() {
        return !lastSlotTaken || freeCount > 0;
    }

    /** Starts a READ into the slot of a request with the next {@link #flush}; false if the place is not known. */
    boolean read(int slot, long hash, byte[] key) {
        int entry = stags.find(hash);
        if (entry == StagCache.NONE || !prepare(slot, entry, hash, key)) {
            return false;
        }
        counters.reads++;
        batch.next()
                .read(
                        wrId(KIND_READ, slot),
                        registration.address(firsts[slot]),
                        Locator.rkey(firsts[slot]),
                        SendFlags.SIGNALLED)
                .add(sink, offset(slot), Locator.length(seconds[slot]));
        return true;
    }

    /** Posts the READs of requests with one doorbell. */
    void flush() {
        if (batch.size() > 0) {
            requireAccepted(queuePair.post(batch));
            batch.clear();
        }
    }

    /** The words of an rget that has the server write into a slot: rkey, address, length, opaque number. */
    String beginWritten(int slot) {
        rgets++;
        rgetsOutstanding++;
        opaques[slot] = rgets << OPAQUE_SHIFT | slot;
        askedNs[slot] = System.nanoTime();
        return " " + Integer.toUnsignedString(sink.rkey()) + " " + Long.toUnsignedString(sink.address() + offset(slot))
                + " " + maxItemLength + " " + opaques[slot];
    }

    /** rgets that were not answered. */
    int rgetsOutstanding() {
        return rgetsOutstanding;
    }

    /** True if requests wait for READs or rgets. */
    boolean hasRequests() {
        return lastSlotTaken || window - freeCount > started;
    }

    /** Lets requests see the time; false if one of them waits so long that the connection counts as dead. */
    boolean checkDeadlines(long nowNs) {
        for (GetRequest owner : owners) {
            if (owner != null) {
                owner.checkDeadline(nowNs);
                if (nowNs - owner.patienceEndNs() >= 0) {
                    return false;
                }
            }
        }
        return true;
    }

    /** When the next limit of one of them is reached; Long.MAX_VALUE if there is none. */
    long nextCheckNs() {
        long next = Long.MAX_VALUE;
        for (GetRequest owner : owners) {
            if (owner != null) {
                next = Math.min(next, owner.nextCheckNs());
            }
        }
        return next;
    }

    /** Fails all requests that wait here. */
    void fail(KvException reason) {
        for (GetRequest owner : owners) {
            if (owner != null) {
                owner.fail(reason);
            }
        }
    }

    /** Takes what was started and not delivered off this reader, which is to be closed; the number of tags. */
    int abandon(long[] lostTags) {
        abandoned = true;
        int lost = 0;
        boolean[] isFree = new boolean[window];
        for (int i = 0; i < freeCount; i++) {
            isFree[free[i]] = true;
        }
        for (int slot = 0; slot < window; slot++) {
            if (!isFree[slot] && owners[slot] == null && slot != delivering) {
                lostTags[lost++] = tags[slot];
            }
        }
        return lost;
    }

    /** Hands over what is ready; the number of results. */
    int deliver(ReadHandler handler) {
        int delivered = 0;
        for (int left = readyCount; left > 0 && !abandoned; left--) {
            int slot = ready[readyHead];
            readyHead = (readyHead + 1) % window;
            readyCount--;
            item(slot);
            started--;
            delivering = slot;
            try {
                handler.onRead(tags[slot], outcomes[slot], view);
            } finally {
                delivering = NO_SLOT;
                free[freeCount++] = slot;
            }
            delivered++;
        }
        return delivered;
    }

    /** READs of {@link #start} on their way or ready to be delivered. */
    int outstanding() {
        return started;
    }

    /**
     * Checks what the server wrote; the place of an item that still is there is remembered.
     *
     * @param remember false if the key is being written meanwhile
     */
    ReadOutcome checkWritten(int slot, long hash, byte[] key, boolean remember) {
        long length = writtenLengths[slot];
        if (length < ItemDescriptor.MIN_LENGTH || length > maxItemLength) {
            return ReadOutcome.TORN;
        }
        int item = (int) offset(slot);
        ReadOutcome outcome = check.checkContent(sinkSegment, sinkView, item, (int) length, key, ItemCheck.NO_EXPIRY);
        takeLengths(slot);
        if (outcome == ReadOutcome.HIT
                && remember
                && ItemDescriptor.generation(sinkSegment, item) == Locator.generation(seconds[slot])) {
            stags.put(hash, firsts[slot], seconds[slot]);
        }
        return outcome;
    }

    /** The item in a slot, where it is. */
    RemoteItem item(int slot) {
        return view.wrap(sinkSegment, offset(slot), keyLengths[slot], valueLengths[slot]);
    }

    /** Why the queue pair is of no use any more, or null. */
    @Nullable
    String failure() {
        if (failure == null && ended != null) {
            failure = "the queue pair has ended: " + ended;
        }
        return failure;
    }

    /** By the loop: a work request of ours is done. */
    void complete(WorkCompletion completion) {
        int kind = (int) completion.wrId() >>> KIND_SHIFT;
        int slot = (int) completion.wrId() & SLOT_MASK;
        if (!completion.isSuccess()) {
            broken("the queue pair failed: " + completion.status());
        } else if (kind == KIND_READ) {
            readDone(slot);
        } else if (kind == KIND_RECEIVE) {
            received(slot, completion.byteLength());
        } else if (kind == KIND_TOUCH) {
            touches.partDone();
        }
    }

    private void readDone(int slot) {
        int item = (int) offset(slot);
        long nowNs = System.nanoTime();
        ReadOutcome outcome = registration.check(
                check, sinkSegment, sinkView, item, seconds[slot], keys[slot], clock.latestSeconds(nowNs));
        takeLengths(slot);
        if (outcome == ReadOutcome.FORWARDED) {
            if (follow(slot, item)) {
                return;
            }
            outcome = ReadOutcome.STALE;
        }
        if (outcome == ReadOutcome.HIT) {
            if (followed[slot] && !connection.isBeingWritten(hashes[slot])) {
                stags.put(hashes[slot], firsts[slot], seconds[slot]);
            }
            if (reportsTouches) {
                touches.add(firsts[slot], ItemDescriptor.generation(sinkSegment, item), nowNs);
                reportTouches(nowNs);
            }
        } else {
            stags.remove(hashes[slot], firsts[slot], seconds[slot]);
        }
        counters.count(outcome);
        outcomes[slot] = outcome;
        GetRequest owner = owners[slot];
        if (owner != null) {
            owner.read(connection, this, slot, outcome);
        } else {
            ready[(readyHead + readyCount) % window] = slot;
            readyCount++;
        }
    }

    private void takeLengths(int slot) {
        keyLengths[slot] = check.keyLength();
        valueLengths[slot] = check.valueLength();
    }

    /** READs the item that replaced this one; false if that was done once, or leads nowhere. */
    private boolean follow(int slot, int item) {
        stags.remove(hashes[slot], firsts[slot], seconds[slot]);
        long first = ItemDescriptor.forwardFirst(sinkSegment, item);
        long second = ItemDescriptor.forwardSecond(sinkSegment, item);
        if (followed[slot] || failure() != null || !registration.covers(first, second, maxItemLength)) {
            return false;
        }
        counters.count(ReadOutcome.FORWARDED);
        followed[slot] = true;
        firsts[slot] = first;
        seconds[slot] = second;
        postRead(slot);
        return true;
    }

    private void received(int slot, long length) {
        long offset = (long) slot * CONTROL_SLOT_LENGTH;
        if (!AnswerDescriptor.isValid(length)) {
            broken("the server sent a message of " + length + " bytes, expected " + AnswerDescriptor.LENGTH);
            return;
        }
        long opaque = AnswerDescriptor.opaque(controlSegment, offset);
        int status = AnswerDescriptor.status(controlSegment, offset);
        if (opaque == 0 && status == AnswerDescriptor.BOUND) {
            bound = true;
            clock.heard(AnswerDescriptor.clockSeconds(controlSegment, offset), helloNs);
            touches.interval(AnswerDescriptor.touchIntervalSeconds(controlSegment, offset));
        } else if (opaque == 0 && status == AnswerDescriptor.TOUCHED) {
            touches.interval(AnswerDescriptor.touchIntervalSeconds(controlSegment, offset));
            touches.partDone();
            clock.heard(AnswerDescriptor.clockSeconds(controlSegment, offset), reportNs);
        } else {
            answered(offset, opaque, status);
        }
        queuePair.postReceive(wrId(KIND_RECEIVE, slot), control, offset, CONTROL_SLOT_LENGTH);
    }

    private void answered(long offset, long opaque, int status) {
        int slot = (int) (opaque & OPAQUE_SLOT_MASK);
        GetRequest owner = slot < owners.length && opaques[slot] == opaque ? owners[slot] : null;
        if (opaque == 0 || owner == null) {
            broken("the server answered request " + opaque + " with status " + status + ", which nobody waits for");
            return;
        }
        opaques[slot] = 0;
        clock.heard(AnswerDescriptor.clockSeconds(controlSegment, offset), askedNs[slot]);
        rgetsOutstanding--;
        firsts[slot] = AnswerDescriptor.locatorFirst(controlSegment, offset);
        seconds[slot] = AnswerDescriptor.locatorSecond(controlSegment, offset);
        writtenLengths[slot] = AnswerDescriptor.itemLength(controlSegment, offset);
        if (status == AnswerDescriptor.FOUND) {
            connection.learnArena(Locator.rkey(firsts[slot]));
        }
        owner.answered(connection, this, slot, status);
    }

    /** Sends a touch report if one is due. */
    void reportTouches(long nowNs) {
        if (touches.isDue(nowNs)) {
            sendReport();
        }
    }

    /** Sends the last touch reports, and waits for their answers until the deadline. */
    void finishTouches(long deadlineNs) {
        while (failure() == null && touches.isUnfinished() && System.nanoTime() - deadlineNs < 0) {
            if (touches.maySend()) {
                sendReport();
            }
            loop.await(WAIT_SLICE_NS);
        }
    }

    /** When {@link #reportTouches} should be called again, at the latest; Long.MAX_VALUE nanoseconds if there is no need. */
    long nextReportNs(long nowNs) {
        return touches.dueInNs(nowNs);
    }

    /** The server broke the protocol: the queue pair is of no use any more. */
    void broken(String reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    private void sendReport() {
        int length = touches.seal();
        reportNs = System.nanoTime();
        requireAccepted(queuePair.postSend(
                wrId(KIND_TOUCH, 0), control, helloOffset + CONTROL_SLOT_LENGTH, length, SendFlags.SIGNALLED));
    }

    private boolean prepare(int slot, int entry, long hash, byte[] key) {
        long first = stags.first(entry);
        long second = stags.second(entry);
        if (!registration.covers(first, second, maxItemLength)) {
            return false;
        }
        hashes[slot] = hash;
        firsts[slot] = first;
        seconds[slot] = second;
        keys[slot] = key;
        followed[slot] = false;
        return true;
    }

    private void postRead(int slot) {
        counters.reads++;
        requireAccepted(queuePair.postRead(
                wrId(KIND_READ, slot),
                sink,
                offset(slot),
                Locator.length(seconds[slot]),
                registration.address(firsts[slot]),
                Locator.rkey(firsts[slot]),
                SendFlags.SIGNALLED));
    }

    private long offset(int slot) {
        return (long) slot * slotLength;
    }

    private long wrId(int kind, int slot) {
        return (long) index << Integer.SIZE | (long) kind << KIND_SHIFT | slot;
    }

    private static void requireAccepted(PostStatus status) {
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException("the send queue is full although its requests are counted: " + status);
        }
    }

    @Override
    public void close() {
        owned.close();
    }
}
