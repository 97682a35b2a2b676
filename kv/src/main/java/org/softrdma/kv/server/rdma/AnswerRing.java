package org.softrdma.kv.server.rdma;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.message.AnswerDescriptor;
import org.softrdma.kv.server.memory.DeviceArenas.DeviceArena;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.PinnedItem;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendFlags;

/**
 * The answers to one client's rgets: for each, WRITE the item, then SEND the answer. The thread of the memcached
 * connection adds at the head; completions arrive in posting order and free the tail. An item stays pinned until its
 * answer completes. Pinned bytes are bounded, and so is the time without a completion: a client that stops taking
 * answers holds little memory, and not for long.
 *
 * <p>Ring and end are guarded by one short lock between that thread and the agent {@link RdmaSessions}.
 */
public final class AnswerRing {
    /** What became of an answer. */
    public enum Status {
        /** It was posted. */
        POSTED,
        /** Too many answers or bytes are outstanding; the connection resumes when there is room. */
        FULL,
        /** The queue pair has ended, or its hello has not come yet. */
        ENDED
    }

    /** Answers that may be outstanding. */
    static final int ANSWERS = 64;

    /** Bytes of an answer in the memory of its session. */
    static final int SLOT_LENGTH = 64;

    /** Bytes of items that may be outstanding to one client; a single item may be longer. */
    private static final long MAX_PINNED_BYTES = 1 << 20;

    private final ItemStore store;
    private final NanoClock clock;
    private final QueuePair queuePair;
    private final MemoryRegion region;
    private final MemorySegment segment;
    private final long start;

    private final ReentrantLock lock;
    private final @Nullable PinnedItem[] pinned = new PinnedItem[ANSWERS];
    private long head;
    private long tail;
    private long pinnedBytes;

    /** When the oldest answer in the ring became the oldest. */
    private long progressNs;

    private boolean open;
    private boolean ended;
    private @Nullable Runnable waiting;

    /**
     * A ring that takes no answers yet.
     *
     * @param region of the session
     * @param segment its memory
     * @param start where in it there is room for all answers
     */
    AnswerRing(RdmaService service, QueuePair queuePair, MemoryRegion region, MemorySegment segment, long start) {
        this.store = service.store();
        this.lock = store.turns().newLock();
        this.clock = service.nanoClock();
        this.queuePair = queuePair;
        this.region = region;
        this.segment = segment;
        this.start = start;
    }

    /** The client has said hello: from now on rgets are answered. */
    void open() {
        lock.lock();
        try {
            open = true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Answers an rget. By the event loop thread of the connection.
     *
     * @param item what was found; its pin passes to this ring, whatever comes of it
     * @param rget where the client wants it
     * @param nowSeconds the time
     * @param resume called once there is room, if there was none
     */
    public Status answer(PinnedItem item, TextRequest rget, long nowSeconds, Runnable resume) {
        boolean fits = item.isPresent() && item.length() <= rget.length();
        boolean kept = false;
        lock.lock();
        try {
            if (ended || !open) {
                return Status.ENDED;
            }
            if (head - tail == ANSWERS || (fits && pinnedBytes > 0 && pinnedBytes + item.length() > MAX_PINNED_BYTES)) {
                waiting = resume;
                return Status.FULL;
            }
            if (head == tail) {
                progressNs = clock.nanoTime();
            }
            int slot = (int) (head % ANSWERS);
            if (fits) { // pinned until the ring lets it go, even if posting fails half-way
                pinned[slot] = item;
                pinnedBytes += item.length();
                kept = true;
            }
            head++;
            post(slot, item, fits, rget, nowSeconds);
        } finally {
            lock.unlock();
            if (!kept) {
                release(item);
            }
        }
        return Status.POSTED;
    }

    private void post(int slot, PinnedItem item, boolean fits, TextRequest rget, long nowSeconds) {
        long offset = start + (long) slot * SLOT_LENGTH;
        long opaque = rget.opaque();
        if (!item.isPresent()) {
            AnswerDescriptor.writeNotFound(segment, offset, opaque, nowSeconds);
        } else {
            int status = fits ? AnswerDescriptor.FOUND : AnswerDescriptor.BUFFER_TOO_SMALL;
            AnswerDescriptor.write(segment, offset, status, opaque, nowSeconds, item.locator(), item.length());
        }
        if (fits) {
            requireAccepted(queuePair.postWrite(
                    slot,
                    ((DeviceArena) item.arena()).region(), // not the chunk's: that may name another one by then
                    item.offset(),
                    item.length(),
                    rget.address(),
                    rget.rkey(),
                    SendFlags.NONE));
        }
        requireAccepted(queuePair.postSend(slot, region, offset, AnswerDescriptor.LENGTH, SendFlags.SIGNALLED));
    }

    /** The oldest answer was sent. By the agent {@link RdmaSessions}. */
    void answered() {
        @Nullable PinnedItem done;
        @Nullable Runnable resumed;
        lock.lock();
        try {
            int slot = (int) (tail % ANSWERS);
            done = pinned[slot];
            pinned[slot] = null;
            tail++;
            progressNs = clock.nanoTime();
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
            resumed.run();
        }
    }

    /**
     * True if there are answers on their way, and none was completed for some time. Any thread.
     *
     * @param nowNs the time
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

    /** Begins the end of the queue pair. Any thread. */
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

    /** Ends the queue pair, and lets go of the items on their way. By the agent {@link RdmaSessions}. */
    void end() {
        @Nullable Runnable resumed;
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
        } finally {
            if (resumed != null) {
                resumed.run();
            }
        }
    }

    private void release(@Nullable PinnedItem item) {
        if (item != null && item.isPresent()) {
            store.unpin(item);
        }
    }

    /** Each answer of a session is counted before it is posted, so there is always room for it. */
    static void requireAccepted(PostStatus status) {
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException("the send queue is full although its answers are counted: " + status);
        }
    }
}
