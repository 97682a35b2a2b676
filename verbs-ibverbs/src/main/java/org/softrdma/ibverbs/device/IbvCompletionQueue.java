package org.softrdma.ibverbs.device;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.QueuePairTable;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.verbs.AsyncEvent.CompletionQueueEvent;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/**
 * An {@code ibv_cq}. Native completions are polled in batches into the queue's own memory and handed out from there.
 * Those of destroyed queue pairs, and of requests that were completed before, are skipped.
 *
 * <p>If the device does not flush, this queue does, in order ({@link WorkRing#nextToFlush}), once its native queue was
 * empty after the queue pair was quiesced.
 *
 * <p>A message may arrive before the event that reports the connection, which takes another path. Its completion is
 * held back until then, so that its receiver can answer.
 *
 * <p>Threads: any thread that polls, under one lock.
 */
public abstract class IbvCompletionQueue extends NativeCompletions implements CompletionQueue {
    private static final int FLUSHED = CompletionStatus.FLUSHED.code();
    /** Result of {@link #take}: this completion must wait, and with it those behind it. */
    private static final int EARLY = -1;

    private final OpenDevice device;
    private final @Nullable IbvCompletionChannel channel;
    private volatile int entries;

    @SuppressWarnings("this-escape") // kept, not called
    private final Arming arming = new Arming(this, () -> armNatively(true));

    private final ReentrantLock lock = new ReentrantLock();

    // Under the lock.
    private int batchNext;
    private int batchEnd;
    private int queuePairs;
    private ToFlush[] toFlush = {};
    /** Queue pairs whose failure a poll has seen and not reported yet, each once. Has room for all queue pairs. */
    private @Nullable QueuePairWork[] failed = new QueuePairWork[0];

    private int failedCount;
    /** A RECV waits for its queue pair. */
    private boolean early;

    private boolean overrun;
    private volatile boolean closed;

    /** A queue of a queue pair whose requests the device does not flush. */
    private record ToFlush(QueuePairWork work, WorkRing ring) {}

    /**
     * Wraps a native queue that was just created.
     *
     * @param device counts it already
     * @param entries that it holds
     * @param channel gets its events and counts it already; or null
     */
    protected IbvCompletionQueue(OpenDevice device, int entries, @Nullable IbvCompletionChannel channel) {
        this.device = device;
        this.entries = entries;
        this.channel = channel;
    }

    // ---- what a provider does

    /**
     * {@code ibv_req_notify_cq}.
     *
     * @param any of any completion; else of solicited ones
     */
    protected abstract void armNatively(boolean any);

    /**
     * {@code ibv_resize_cq}, where the device has {@link Feature#QUEUE_RESIZE}. Under the lock.
     *
     * @param minimumEntries checked
     * @return how many it holds now
     * @throws VerbsException if it is refused: the queue is as it was
     */
    protected int resizeNatively(int minimumEntries) {
        throw new IllegalStateException("a device with " + Feature.QUEUE_RESIZE + " must resize to " + minimumEntries);
    }

    /** {@code ibv_destroy_cq}; frees all memory. Under the lock. */
    protected abstract void destroy();

    // ---- its queue pairs

    final boolean isOf(OpenDevice other) {
        return device == other;
    }

    /** The part of it that its channel sees. */
    public final Arming arming() {
        return arming;
    }

    @Override
    public final int entries() {
        return entries;
    }

    @Override
    public final void resize(int minimumEntries) {
        Capabilities capabilities = device.traits().capabilities();
        if (!capabilities.has(Feature.QUEUE_RESIZE)) {
            CompletionQueue.super.resize(minimumEntries);
        }
        int most = capabilities.maxCompletionQueueEntries();
        if (minimumEntries < 1 || minimumEntries > most) {
            throw new IllegalArgumentException("minimumEntries=" + minimumEntries + ": expected 1 to " + most);
        }
        lock.lock();
        try {
            checkOpen();
            entries = resizeNatively(minimumEntries);
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair begins to use this queue. */
    final void attach() {
        lock.lock();
        try {
            checkOpen();
            queuePairs++;
            failed = Arrays.copyOf(failed, Math.max(queuePairs, failed.length));
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair is gone; null if it was never created. */
    final void detach(@Nullable QueuePairWork work) {
        lock.lock();
        try {
            queuePairs--;
            forget(work);
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair is reset: what is in one of its queues is discarded. While nothing is posted to it. */
    final void discard(QueuePairWork work, WorkRing ring) {
        lock.lock();
        try {
            forget(work);
            ring.discard();
        } finally {
            lock.unlock();
        }
    }

    private void forget(@Nullable QueuePairWork work) {
        toFlush = Arrays.stream(toFlush).filter(each -> each.work != work).toArray(ToFlush[]::new);
        int index = Arrays.asList(failed).indexOf(work);
        if (work != null && index >= 0) {
            failed[index] = failed[--failedCount];
            failed[failedCount] = null;
        }
    }

    /** The device reports that it lost completions because the queue was full. */
    public final void overrun() {
        lock.lock();
        try {
            overrun = true;
        } finally {
            lock.unlock();
        }
        raise();
    }

    /** Tells the application of {@link #overrun}, once its queue pairs are in ERROR. */
    public final void happened() {
        device.events().add(new CompletionQueueEvent(this), () -> !closed);
    }

    /** From now on the requests of a queue of a queue pair are flushed here. */
    final void flushPending(QueuePairWork work, WorkRing ring) {
        lock.lock();
        try {
            if (Arrays.stream(toFlush).noneMatch(each -> each.ring == ring)) {
                toFlush = Arrays.copyOf(toFlush, toFlush.length + 1);
                toFlush[toFlush.length - 1] = new ToFlush(work, ring);
            }
        } finally {
            lock.unlock();
        }
        raise();
    }

    /** A queue pair was connected, or never will be: completions that arrived early for it can be polled. */
    final void begun() {
        boolean waited;
        lock.lock();
        try {
            waited = early;
            early = false;
        } finally {
            lock.unlock();
        }
        if (waited) {
            raise();
        }
    }

    /** A completion that the device does not know of can be polled. */
    final void raise() {
        if (channel != null) {
            channel.raise(arming);
        }
    }

    // ---- polling

    @Override
    public final int poll(WorkCompletion[] completions, int max) {
        if (max < 0 || max > completions.length) {
            throw new IllegalArgumentException("max=" + max + ": expected 0 to " + completions.length);
        }
        boolean anyFailed;
        int taken = 0;
        lock.lock();
        try {
            checkOpen();
            boolean nativeEmpty = false;
            early = false;
            while (taken < max && !nativeEmpty && !early) {
                if (batchNext == batchEnd) {
                    nativeEmpty = refill(batchSize(max - taken));
                }
                int ready = Math.min(batchEnd - batchNext, max - taken);
                if (!areElements(completions, taken, ready)) {
                    break;
                }
                for (int i = 0; i < ready && !early; i++) {
                    int handedOut = take(batchNext, completions[taken]);
                    early = handedOut == EARLY;
                    if (!early) {
                        batchNext++;
                        taken += handedOut;
                    }
                }
            }
            nativeEmpty &= batchNext == batchEnd;
            if (nativeEmpty && overrun) {
                requireTaken(taken);
            } else if (nativeEmpty && toFlush.length > 0) {
                taken = flush(completions, taken, max);
            }
            anyFailed = failedCount > 0;
        } finally {
            lock.unlock();
        }
        if (anyFailed) {
            tellFailed();
        }
        return taken;
    }

    /** Changes the states of failed queue pairs, under no lock. Another polling thread may do part of it. */
    private void tellFailed() {
        QueuePairWork next = nextFailed();
        while (next != null) {
            next.requestFailed();
            next = nextFailed();
        }
    }

    private @Nullable QueuePairWork nextFailed() {
        lock.lock();
        try {
            if (failedCount == 0) {
                return null;
            }
            QueuePairWork next = failed[--failedCount];
            failed[failedCount] = null;
            return next;
        } finally {
            lock.unlock();
        }
    }

    /** After an overrun: completions that fitted are taken first. */
    private void requireTaken(int taken) {
        if (taken == 0) {
            throw new VerbsException(
                    VerbsErrorCode.QUEUE_OVERRUN,
                    "completions were lost, because there were more than the " + entries
                            + " that this completion queue holds; create it with an entry for each outstanding"
                            + " request");
        }
    }

    /** Polls the native queue; true if it is empty now. */
    private boolean refill(int size) {
        batchNext = 0;
        batchEnd = 0;
        batchEnd = pollNatively(size);
        return batchEnd < size;
    }

    /**
     * Checks before taking anything: completions taken for an array with a null element would be lost.
     *
     * @return false if an element is null behind completions that were taken already, which the caller gets first
     */
    private static boolean areElements(WorkCompletion[] completions, int from, int count) {
        for (int i = from; i < from + count; i++) {
            if (completions[i] == null) {
                if (from > 0) {
                    return false;
                }
                throw new IllegalArgumentException(
                        "completions[" + i + "] is null: expected an array from WorkCompletion.array");
            }
        }
        return true;
    }

    /** Hands out a native completion; returns 0 if it is obsolete, {@link #EARLY} if it must wait. */
    private int take(int index, WorkCompletion to) {
        long nativeId = wrId(index);
        if (QueuePairTable.isShared(nativeId)) {
            return takeShared(index, nativeId, to);
        }
        QueuePairWork work = device.queuePairs().find(nativeId);
        if (work == null) {
            return 0;
        }
        boolean receive = QueuePairTable.isReceive(nativeId);
        int status = status(index);
        WorkRing ring = receive ? work.receives() : work.sends();
        long sequence = ring.resolve(nativeId & WorkRing.SEQUENCE_MASK);
        if (sequence < 0) {
            return 0;
        }
        if (receive && status == 0 && work.mayBeEarly()) {
            return EARLY;
        }
        if (status == FLUSHED && !work.deviceFlushes()) {
            // siw flushes requests that it had not sent before the READs in flight.
            ring.flushed(sequence);
            noteFailed(work);
            return 0;
        }
        if (status == 0) {
            if (!ring.givesCompletion(sequence)) {
                ring.complete(sequence, true);
                return 0;
            }
            long wrId = ring.complete(sequence, true);
            if (receive) {
                received(index, wrId, work, to);
            } else {
                done(index, wrId, work.number(), to);
            }
        } else {
            to.failed(work.fail(ring, sequence), work.number(), CompletionStatus.ofCode(status), vendorError(index));
            noteFailed(work);
        }
        return 1;
    }

    /** As {@link #take}, for a RECV of a shared receive queue. The slot of an obsolete one is free again. */
    private int takeShared(int index, long nativeId, WorkCompletion to) {
        SharedReceives receives = device.sharedReceives().find(nativeId);
        int slot = (int) (nativeId & WorkRing.SEQUENCE_MASK);
        if (receives == null || !receives.isTaken(slot)) {
            return 0;
        }
        QueuePairWork work = receives.queuePair(queuePair(index));
        if (work == null) {
            receives.free(slot);
            return 0;
        }
        int status = status(index);
        if (status == 0 && work.mayBeEarly()) {
            return EARLY;
        }
        long wrId = receives.free(slot);
        if (status == 0) {
            received(index, wrId, work, to);
        } else {
            to.failed(wrId, work.number(), CompletionStatus.ofCode(status), vendorError(index));
            if (work.isInUse()) {
                noteFailed(work);
            }
        }
        return 1;
    }

    /** Its state changes once this queue's lock is released. */
    private void noteFailed(QueuePairWork work) {
        for (int i = 0; i < failedCount; i++) {
            if (failed[i] == work) {
                return;
            }
        }
        failed[failedCount++] = work;
    }

    private int flush(WorkCompletion[] completions, int from, int max) {
        int taken = from;
        for (int i = 0; i < toFlush.length && taken < max; i++) {
            taken = flush(toFlush[i], completions, taken, max);
        }
        return taken;
    }

    private static int flush(ToFlush flushed, WorkCompletion[] completions, int from, int max) {
        WorkRing ring = flushed.ring;
        int taken = from;
        long sequence = ring.nextToFlush();
        while (sequence >= 0 && taken < max && areElements(completions, taken, 1)) {
            completions[taken++].failed(
                    flushed.work.fail(ring, sequence), flushed.work.number(), CompletionStatus.FLUSHED, 0);
            sequence = ring.nextToFlush();
        }
        return taken;
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the completion queue is closed");
        }
    }

    // ---- events

    @Override
    public final void requestNotification(boolean solicitedOnly) {
        if (channel == null) {
            throw new IllegalStateException("this completion queue was created without a completion channel");
        }
        lock.lock();
        try {
            checkOpen();
            boolean any = channel.arm(arming, solicitedOnly);
            // siw raises no solicited event for a RECV.
            armNatively(any || device.traits().isIwarp());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public final void acknowledgeEvents(int count) {
        if (channel != null) {
            channel.acknowledge(arming, count);
        } else if (count != 0) {
            throw new IllegalArgumentException("count=" + count + ": expected 0, the events taken");
        }
    }

    @Override
    public final void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (queuePairs > 0) {
                throw new VerbsException(
                        VerbsErrorCode.BUSY, queuePairs + " queue pairs still use this completion queue");
            }
            if (channel != null) {
                channel.detach(arming);
            }
            closed = true;
            try {
                destroy();
            } finally {
                device.childClosed();
            }
        } finally {
            lock.unlock();
        }
    }
}
