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
import org.softrdma.kv.store.ItemDescriptor;
import org.softrdma.kv.store.Locator;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsDevice;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

/**
 * One client's queue pair: READs items into slots of registered memory and checks what came. A slot is free, busy or ready;
 * the last slot belongs to blocking gets and is also where the server writes items. A READ that finds a forward locator is
 * posted again once, into the same slot. Allocates nothing per READ. Owned by the thread of its loop.
 *
 * <p>Work request numbers: number of the reader in the upper half, then kind, then slot.
 */
final class RemoteReader implements AutoCloseable {
    private static final int KIND_SHIFT = 24;
    private static final int SLOT_MASK = (1 << KIND_SHIFT) - 1;
    private static final int KIND_READ = 0;
    private static final int KIND_RECEIVE = 1;
    private static final int KIND_HELLO = 2;

    /** Answers that may be on their way: to the hello and to one rget. */
    private static final int RECEIVES = 2;

    private static final int CONTROL_SLOT_LENGTH = 64;
    private static final long HELLO_OFFSET = (long) RECEIVES * CONTROL_SLOT_LENGTH;
    private static final long CONTROL_LENGTH = HELLO_OFFSET + CONTROL_SLOT_LENGTH;
    private static final int PAGE = 4096;
    private static final long NS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final CompletionLoop loop;
    private final int index;
    private final int window;
    private final int maxItemLength;
    private final int slotLength;
    private final StagCache stags;
    private final ArenaTable arenas;
    private final KvClientCounters counters;
    private final ItemCheck check = new ItemCheck();

    private final CloseStack owned = new CloseStack();
    private final MemoryRegion sink;
    private final MemorySegment sinkSegment;
    private final ByteBuffer sinkView;
    private final MemoryRegion control;
    private final MemorySegment controlSegment;
    private final QueuePair queuePair;

    private final long[] hashes;
    private final long[] firsts;
    private final long[] seconds;
    private final long[] tags;
    private final byte[][] keys;
    private final boolean[] followed;
    private final ReadOutcome[] outcomes;
    private final int[] free;
    private int freeCount;
    private final int[] ready;
    private int readyHead;
    private int readyCount;
    private boolean blockingDone;

    private long answers;
    private long answerOpaque;
    private int answerStatus;
    private long answerFirst;
    private long answerSecond;
    private boolean clockKnown;
    private long latestClockSeconds;
    private long clockTakenNs;

    private @Nullable String failure;

    /** Set by a thread of the device. */
    private volatile @Nullable String ended;

    RemoteReader(
            CompletionLoop loop,
            KvClientContext context,
            InetSocketAddress rdmaAddress,
            StagCache stags,
            ArenaTable arenas,
            KvClientCounters counters) {
        this.loop = loop;
        this.window = context.window();
        this.maxItemLength = context.maxItemLength();
        this.slotLength = (maxItemLength + PAGE - 1) & -PAGE;
        this.stags = stags;
        this.arenas = arenas;
        this.counters = counters;
        int slots = window + 1;
        hashes = new long[slots];
        firsts = new long[slots];
        seconds = new long[slots];
        tags = new long[slots];
        keys = new byte[slots][];
        followed = new boolean[slots];
        outcomes = new ReadOutcome[slots];
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
            controlSegment = owned.add(device.allocateMemory(CONTROL_LENGTH)).segment();
            control = owned.add(loop.domain()
                    .register(controlSegment, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK)));
            queuePair = connect(device, context, rdmaAddress);
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
        queuePair.disconnected().thenAccept(reason -> ended = reason);
    }

    /** Completions that a reader with this window may have outstanding. */
    static int completionsOf(int window) {
        return sendsOf(window) + RECEIVES;
    }

    /** READs of the window, one of a blocking get, and the hello. */
    private static int sendsOf(int window) {
        return window + 2;
    }

    static int indexOf(long wrId) {
        return (int) (wrId >>> Integer.SIZE);
    }

    private QueuePair connect(VerbsDevice device, KvClientContext context, InetSocketAddress address) {
        try (Connector connector = device.resolve(address, context.connectTimeoutNs())) {
            QueuePair made = owned.add(connector.createQueuePair(
                    loop.domain(),
                    QueuePairAttributes.of(loop.queue(), QueuePairLimits.of(sendsOf(window), RECEIVES))));
            for (int i = 0; i < RECEIVES; i++) {
                made.postReceive(wrId(KIND_RECEIVE, i), control, (long) i * CONTROL_SLOT_LENGTH, CONTROL_SLOT_LENGTH);
            }
            int reads = Math.min(window + 1, device.capabilities().maxOutboundReads());
            connector.connect(new ConnectionParameters(reads, 0, new byte[0]), context.connectTimeoutNs());
            return made;
        }
    }

    /** Binds the queue pair to the memcached connection; the answer comes like those to rgets. */
    void sendHello(String token) {
        HelloDescriptor.write(controlSegment, HELLO_OFFSET, token);
        requireAccepted(queuePair.postSend(
                wrId(KIND_HELLO, 0), control, HELLO_OFFSET, HelloDescriptor.LENGTH, SendFlags.SIGNALLED));
    }

    /** Starts a READ of an item whose place is known. */
    StartStatus start(long hash, byte[] key, long tag) {
        int entry = stags.find(hash);
        if (entry == StagCache.NONE) {
            return StartStatus.UNKNOWN;
        }
        if (freeCount == 0) {
            return StartStatus.WINDOW_FULL;
        }
        int slot = free[freeCount - 1];
        if (!post(slot, entry, hash, key)) {
            return StartStatus.UNKNOWN;
        }
        freeCount--;
        tags[slot] = tag;
        return StartStatus.STARTED;
    }

    /** Starts a READ into the slot of blocking gets; false if the place is not known. */
    boolean startBlocking(long hash, byte[] key) {
        int entry = stags.find(hash);
        blockingDone = false;
        return entry != StagCache.NONE && post(window, entry, hash, key);
    }

    /** True once the READ into the slot of blocking gets is done. */
    boolean isBlockingDone() {
        return blockingDone;
    }

    ReadOutcome blockingOutcome() {
        return outcomes[window];
    }

    /** Hands over what is ready; false if there was nothing. */
    int deliver(ReadHandler handler, RemoteItem view) {
        int delivered = 0;
        for (int left = readyCount; left > 0; left--) {
            int slot = ready[readyHead];
            readyHead = (readyHead + 1) % window;
            readyCount--;
            view.wrap(sinkSegment, offset(slot));
            try {
                handler.onRead(tags[slot], outcomes[slot], view);
            } finally {
                free[freeCount++] = slot;
            }
            delivered++;
        }
        return delivered;
    }

    /** READs on their way or ready to be delivered. */
    int outstanding() {
        return window - freeCount;
    }

    /** Where the server writes items: address, key and length for an rget. */
    long writeAddress() {
        return sink.address() + offset(window);
    }

    int writeRkey() {
        return sink.rkey();
    }

    int maxItemLength() {
        return maxItemLength;
    }

    /** Checks what the server wrote; the place of an item that still is there is remembered. */
    ReadOutcome checkWritten(long hash, byte[] key) {
        int length = Locator.length(answerSecond);
        if (length < ItemDescriptor.itemLength(1, 0) || length > maxItemLength) {
            return ReadOutcome.TORN;
        }
        int item = (int) offset(window);
        ReadOutcome outcome = check.checkContent(sinkSegment, sinkView, item, length, key, ItemCheck.NO_EXPIRY);
        if (outcome == ReadOutcome.HIT
                && ItemDescriptor.generation(sinkSegment, item) == Locator.generation(answerSecond)) {
            stags.put(hash, answerFirst, answerSecond);
        }
        return outcome;
    }

    /** The item in the slot of blocking gets. */
    KvItem copyBlocking(RemoteItem view) {
        return view.wrap(sinkSegment, offset(window)).copy();
    }

    /** Number of answers so far; the fields below are of the last one. */
    long answers() {
        return answers;
    }

    long answerOpaque() {
        return answerOpaque;
    }

    int answerStatus() {
        return answerStatus;
    }

    long answerFirst() {
        return answerFirst;
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
            if (failure == null) {
                failure = "the queue pair failed: " + completion.status();
            }
        } else if (kind == KIND_READ) {
            readDone(slot);
        } else if (kind == KIND_RECEIVE) {
            received(slot, completion.byteLength());
        }
    }

    private void readDone(int slot) {
        int item = (int) offset(slot);
        ReadOutcome outcome =
                check.check(sinkSegment, sinkView, item, seconds[slot], keys[slot], latestServerSeconds());
        if (outcome == ReadOutcome.FORWARDED) {
            if (follow(slot, item)) {
                return;
            }
            outcome = ReadOutcome.STALE;
        }
        if (outcome == ReadOutcome.HIT) {
            if (followed[slot]) {
                stags.put(hashes[slot], firsts[slot], seconds[slot]);
            }
        } else {
            stags.remove(hashes[slot], firsts[slot], seconds[slot]);
        }
        counters.count(outcome);
        outcomes[slot] = outcome;
        if (slot == window) {
            blockingDone = true;
        } else {
            ready[(readyHead + readyCount) % window] = slot;
            readyCount++;
        }
    }

    /** READs the item that replaced this one; false if that was done once, or leads nowhere. */
    private boolean follow(int slot, int item) {
        stags.remove(hashes[slot], firsts[slot], seconds[slot]);
        long first = ItemDescriptor.forwardFirst(sinkSegment, item);
        long second = ItemDescriptor.forwardSecond(sinkSegment, item);
        if (followed[slot] || failure() != null || !arenas.covers(first, second, maxItemLength)) {
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
            failure = "the server sent a message of " + length + " bytes, expected " + AnswerDescriptor.LENGTH;
            return;
        }
        answerOpaque = AnswerDescriptor.opaque(controlSegment, offset);
        answerStatus = AnswerDescriptor.status(controlSegment, offset);
        answerFirst = AnswerDescriptor.locatorFirst(controlSegment, offset);
        answerSecond = AnswerDescriptor.locatorSecond(controlSegment, offset);
        takeClock(AnswerDescriptor.clockSeconds(controlSegment, offset));
        answers++;
        queuePair.postReceive(wrId(KIND_RECEIVE, slot), control, offset, CONTROL_SLOT_LENGTH);
    }

    private boolean post(int slot, int entry, long hash, byte[] key) {
        long first = stags.first(entry);
        long second = stags.second(entry);
        if (!arenas.covers(first, second, maxItemLength)) {
            return false;
        }
        hashes[slot] = hash;
        firsts[slot] = first;
        seconds[slot] = second;
        keys[slot] = key;
        followed[slot] = false;
        postRead(slot);
        return true;
    }

    private void postRead(int slot) {
        counters.reads++;
        requireAccepted(queuePair.postRead(
                wrId(KIND_READ, slot),
                sink,
                offset(slot),
                Locator.length(seconds[slot]),
                arenas.address(firsts[slot]),
                Locator.rkey(firsts[slot]),
                SendFlags.SIGNALLED));
    }

    private void takeClock(long serverSeconds) {
        clockKnown = true;
        latestClockSeconds = serverSeconds;
        clockTakenNs = System.nanoTime();
    }

    /**
     * The latest that it can be on the server's clock: its last word, the time since then, and two seconds for what the
     * clock does not show and the way. Without a word from the server every item that expires is in doubt.
     */
    private long latestServerSeconds() {
        return clockKnown
                ? latestClockSeconds + (System.nanoTime() - clockTakenNs) / NS_PER_SECOND + 2
                : Long.MAX_VALUE;
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
