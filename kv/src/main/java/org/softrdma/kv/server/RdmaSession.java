package org.softrdma.kv.server;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.memcached.AnswerDescriptor;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.kv.memcached.TouchReportDescriptor;
import org.softrdma.kv.server.DeviceArenas.DeviceArena;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.PinnedItem;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * One client's queue pair at the server: takes its hello (whose it is may be known before), answers its rgets (WRITE the item, SEND the answer behind it),
 * passes its touch reports on to the store.
 *
 * <p>Answers are a ring: the event loop thread of the memcached connection adds at the head, completions come in posting
 * order and free at the tail. An item stays pinned until then; bytes pinned are bounded, and so is the time without any
 * completion, so that a client that stops holds little and not for long. A queue pair that ends flushes the RECVs that are always
 * posted, and that completion is how the owner learns of every end. Ring and end are guarded by one short lock between
 * those two threads; everything else belongs to the completion thread of {@link RdmaPort}.
 */
final class RdmaSession {
    /** What became of an answer. */
    enum AnswerStatus {
        /** It is on its way. */
        POSTED,
        /** Too many are, or too long ones; the connection is resumed when there is room. */
        FULL,
        /** The queue pair is gone. */
        ENDED
    }

    private static final int ANSWERS = 64;
    private static final int RECEIVES = 2;

    /** Bytes of items on their way to one client; one item may be longer. */
    private static final long MAX_PINNED_BYTES = 1 << 20;

    private static final int SLOT_LENGTH = 64;

    /** A hello or a touch report. */
    private static final int RECEIVE_LENGTH =
            (TouchReportDescriptor.MAX_LENGTH + SLOT_LENGTH - 1) / SLOT_LENGTH * SLOT_LENGTH;

    /** Answers to the hello and to touch reports: one may be in the client's hands before our SEND counts as complete. */
    private static final int CONTROL_ANSWERS = 2;

    private static final long ANSWERS_OFFSET = (long) RECEIVES * RECEIVE_LENGTH;
    private static final long MEMORY_LENGTH = ANSWERS_OFFSET + (long) (ANSWERS + CONTROL_ANSWERS) * SLOT_LENGTH;
    private static final int SENDS = 2 * ANSWERS + CONTROL_ANSWERS;

    private final ItemStore store;
    private final ServerCounters counters;
    private final CloseStack owned = new CloseStack();
    private final CompletionQueue completions;
    private final MemoryRegion region;
    private final MemorySegment segment;
    private final QueuePair queuePair;
    private final InetAddress peer;
    private final long acceptedNs;

    private final ReentrantLock lock = new ReentrantLock();
    private final @Nullable PinnedItem[] pinned = new PinnedItem[ANSWERS];
    private long head;
    private long tail;
    private long pinnedBytes;

    /** When the oldest answer in the ring became the oldest. */
    private long progressNs;

    private boolean ended;
    private @Nullable MemcachedConnection waiting;

    /** Whose it is: set before the peer knows of the queue pair, or by the first SEND. */
    private volatile @Nullable MemcachedConnection connection;

    /** The hello has come, and was answered. Changed with the lock. */
    private boolean greeted;

    private final TouchBudget touchBudget = new TouchBudget();
    private int nextControlAnswer;
    private int controlAnswersOutstanding;

    /** Makes the queue pair of a request with its RECVs posted; the caller accepts. */
    RdmaSession(
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionChannel channel,
            ItemStore store,
            ServerCounters counters,
            ConnectionRequest request,
            long nowNs) {
        this.store = store;
        this.counters = counters;
        this.peer = request.remoteAddress().getAddress();
        this.acceptedNs = nowNs;
        boolean made = false;
        try {
            HostMemory memory = owned.add(device.allocateMemory(MEMORY_LENGTH));
            segment = memory.segment();
            region = owned.add(domain.register(segment, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK)));
            completions = owned.add(device.createCompletionQueue(SENDS + RECEIVES, channel, 0));
            queuePair = owned.add(request.createQueuePair(
                    domain, QueuePairAttributes.of(completions, QueuePairLimits.of(SENDS, RECEIVES))));
            for (int i = 0; i < RECEIVES; i++) {
                queuePair.postReceive(i, region, (long) i * RECEIVE_LENGTH, RECEIVE_LENGTH);
            }
            completions.requestNotification(false);
            made = true;
        } finally {
            if (!made) {
                owned.close();
            }
        }
    }

    CompletionQueue completions() {
        return completions;
    }

    /** True once the hello was answered. By the completion thread. */
    boolean isGreeted() {
        return greeted;
    }

    long acceptedNs() {
        return acceptedNs;
    }

    /** The address of the client's end of the queue pair. */
    InetAddress peer() {
        return peer;
    }

    /** Why it has ended; {@link EndCause#UNKNOWN} before that. */
    EndCause endCause() {
        return queuePair.endCause();
    }

    /** Says whose it is; from now on it ends with the memcached connection, also if that has just ended. */
    void own(MemcachedConnection owner) {
        connection = owner;
        owner.rdma().bind(this);
    }

    @Nullable
    MemcachedConnection connection() {
        return connection;
    }

    /**
     * Answers an rget. By the event loop thread of the connection.
     *
     * @param owner resumed if there was no room
     * @param item what was found; its pin passes to this session, whatever comes of it
     */
    AnswerStatus answer(
            MemcachedConnection owner,
            PinnedItem item,
            int rkey,
            long address,
            long length,
            long opaque,
            long nowSeconds) {
        boolean fits = item.isPresent() && item.length() <= length;
        boolean kept = false;
        lock.lock();
        try {
            if (ended || !greeted) {
                return AnswerStatus.ENDED;
            }
            if (head - tail == ANSWERS || (fits && pinnedBytes > 0 && pinnedBytes + item.length() > MAX_PINNED_BYTES)) {
                waiting = owner;
                return AnswerStatus.FULL;
            }
            if (head == tail) {
                progressNs = System.nanoTime();
            }
            int slot = (int) (head % ANSWERS);
            if (fits) { // pinned until the ring lets it go, even if posting fails half-way
                pinned[slot] = item;
                pinnedBytes += item.length();
                kept = true;
            }
            head++;
            postAnswer(slot, item, fits, rkey, address, opaque, nowSeconds);
        } finally {
            lock.unlock();
            if (!kept) {
                release(item);
            }
        }
        return AnswerStatus.POSTED;
    }

    private void postAnswer(
            int slot, PinnedItem item, boolean fits, int rkey, long address, long opaque, long nowSeconds) {
        long offset = ANSWERS_OFFSET + (long) slot * SLOT_LENGTH;
        if (fits) {
            AnswerDescriptor.write(
                    segment, offset, AnswerDescriptor.FOUND, opaque, nowSeconds, item.locator(), item.length());
            requireAccepted(queuePair.postWrite(
                    slot,
                    ((DeviceArena) item.arena()).region(), // not the chunk's: that may name another one by then
                    item.offset(),
                    item.length(),
                    address,
                    rkey,
                    SendFlags.NONE));
        } else if (item.isPresent()) {
            AnswerDescriptor.write(
                    segment,
                    offset,
                    AnswerDescriptor.BUFFER_TOO_SMALL,
                    opaque,
                    nowSeconds,
                    item.locator(),
                    item.length());
        } else {
            AnswerDescriptor.writeNotFound(segment, offset, opaque, nowSeconds);
        }
        requireAccepted(queuePair.postSend(slot, region, offset, AnswerDescriptor.LENGTH, SendFlags.SIGNALLED));
    }

    /**
     * True if there are answers on their way, and none was completed for some time. Any thread.
     *
     * @param nowNs the time, of {@link System#nanoTime}
     * @param limitNs how long
     */
    boolean isStalled(long nowNs, long limitNs) {
        lock.lock();
        try {
            return head != tail && nowNs - progressNs > limitNs;
        } finally {
            lock.unlock();
        }
    }

    /** Begins the end; {@link #drain} will say that it has come. Any thread. */
    void disconnect() {
        lock.lock();
        try {
            if (!ended) {
                queuePair.disconnect();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Handles completions.
     *
     * @param batch scratch
     * @param port knows the tokens
     * @return false once the queue pair has ended
     */
    boolean drain(WorkCompletion[] batch, RdmaPort port) {
        int count;
        while ((count = completions.poll(batch)) > 0) {
            for (int i = 0; i < count; i++) {
                if (!batch[i].isSuccess()) {
                    return false;
                }
                if (batch[i].opcode() == CompletionOpcode.RECEIVE) {
                    if (!received(batch[i], port)) {
                        return false;
                    }
                } else if (batch[i].wrId() < ANSWERS) {
                    answered();
                } else {
                    controlAnswersOutstanding--;
                }
            }
        }
        return true;
    }

    /** Takes the hello, then touch reports; anything else is not in the protocol and ends the queue pair. */
    private boolean received(WorkCompletion completion, RdmaPort port) {
        long offset = completion.wrId() * RECEIVE_LENGTH;
        long length = completion.byteLength();
        boolean taken = greeted ? touched(offset, length, port.nowSeconds()) : greeted(offset, length, port);
        if (!taken) {
            return false;
        }
        queuePair.postReceive(completion.wrId(), region, offset, RECEIVE_LENGTH);
        return true;
    }

    /** The token of a hello counts if it is not known yet whose the queue pair is. */
    private boolean greeted(long offset, long length, RdmaPort port) {
        if (!HelloDescriptor.isValid(segment, offset, length)) {
            return false;
        }
        if (connection == null) {
            MemcachedConnection owner = port.claim(this, HelloDescriptor.token(segment, offset));
            if (owner == null) {
                return false;
            }
            own(owner);
        }
        lock.lock();
        try {
            greeted = true; // before the client hears of it, and sends rgets
            counters.boundQueuePairs.incrementAndGet();
        } finally {
            lock.unlock();
        }
        return answerControl(AnswerDescriptor.BOUND, port.nowSeconds());
    }

    private boolean touched(long offset, long length, long nowSeconds) {
        if (!TouchReportDescriptor.isValid(segment, offset, length)) {
            return false;
        }
        int count = TouchReportDescriptor.count(segment, offset);
        long allHits = TouchReportDescriptor.unnamedHits(segment, offset);
        for (int i = 0; i < count; i++) {
            int hits = TouchReportDescriptor.hits(segment, offset, i);
            if (hits < 1) {
                return false;
            }
            allHits += hits;
            if (touchBudget.takeRecord(nowSeconds)) {
                store.touched(
                        TouchReportDescriptor.first(segment, offset, i),
                        TouchReportDescriptor.generation(segment, offset, i),
                        hits,
                        nowSeconds);
            } else {
                counters.rdmaTouchesRefused.increment();
            }
        }
        long counted = touchBudget.takeHits(allHits, nowSeconds);
        counters.rdmaGetHits.add(counted);
        counters.rdmaHitsRefused.add(allHits - counted);
        counters.rdmaTouchReports.increment();
        return answerControl(AnswerDescriptor.TOUCHED, nowSeconds);
    }

    /** False if the client does not wait for our answers. */
    private boolean answerControl(int status, long nowSeconds) {
        if (controlAnswersOutstanding == CONTROL_ANSWERS) {
            return false;
        }
        int slot = ANSWERS + nextControlAnswer;
        nextControlAnswer = (nextControlAnswer + 1) % CONTROL_ANSWERS;
        controlAnswersOutstanding++;
        long answer = ANSWERS_OFFSET + (long) slot * SLOT_LENGTH;
        AnswerDescriptor.writeControl(segment, answer, status, nowSeconds, store.touchIntervalSeconds(nowSeconds));
        requireAccepted(queuePair.postSend(slot, region, answer, AnswerDescriptor.LENGTH, SendFlags.SIGNALLED));
        return true;
    }

    private void answered() {
        @Nullable PinnedItem done;
        MemcachedConnection resumed;
        lock.lock();
        try {
            int slot = (int) (tail % ANSWERS);
            done = pinned[slot];
            pinned[slot] = null;
            tail++;
            progressNs = System.nanoTime();
            if (done != null) {
                pinnedBytes -= done.length();
            }
            resumed = waiting;
            waiting = null;
        } finally {
            lock.unlock();
        }
        release(done);
        if (resumed != null) {
            resumed.resumeLater();
        }
    }

    /** Frees everything. By the completion thread, after {@link #drain} returned false, or when nothing was accepted. */
    void end() {
        MemcachedConnection resumed;
        lock.lock();
        try {
            ended = true;
            resumed = waiting;
            waiting = null;
        } finally {
            lock.unlock();
        }
        try {
            queuePair.close(); // from here on the device does not touch the pinned items
            for (; tail < head; tail++) {
                release(pinned[(int) (tail % ANSWERS)]);
            }
            owned.close();
        } finally {
            MemcachedConnection owner = connection;
            if (owner != null) {
                owner.rdma().unbind(this);
            }
            if (resumed != null) {
                resumed.resumeLater();
            }
        }
    }

    private void release(@Nullable PinnedItem item) {
        if (item != null && item.isPresent()) {
            store.unpin(item);
        }
    }

    private static void requireAccepted(PostStatus status) {
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException("the send queue is full although its answers are counted: " + status);
        }
    }
}
