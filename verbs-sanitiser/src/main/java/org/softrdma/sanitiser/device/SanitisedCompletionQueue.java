package org.softrdma.sanitiser.device;

import java.util.List;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.watch.CallLock;
import org.softrdma.sanitiser.watch.CompletionQueueRecord;
import org.softrdma.sanitiser.watch.Watch;
import org.softrdma.sanitiser.watch.WatchedQueuePairs;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/**
 * A completion queue. Any thread: a lock makes polls take turns, so that completions are told in the order in which
 * they were in the queue.
 */
final class SanitisedCompletionQueue implements CompletionQueue {
    private final CompletionQueue queue;
    private final Watch watch;
    private final WatchedQueuePairs queuePairs;
    private final CompletionQueueRecord record;
    private final Runnable closed;
    private final Lifetime lifetime;
    private final CallLock lock;

    /** With what is told once it is closed. */
    SanitisedCompletionQueue(
            CompletionQueue queue, Watch watch, int device, WatchedQueuePairs queuePairs, Runnable closed) {
        this.queue = queue;
        this.watch = watch;
        lock = watch.callLock();
        this.queuePairs = queuePairs;
        this.closed = closed;
        record = new CompletionQueueRecord(queue.entries());
        lifetime = Lifetime.of(watch.open(), device, "completion queue of " + queue.entries() + " entries");
    }

    /** The provider's queue. */
    static CompletionQueue bare(CompletionQueue queue) {
        return queue instanceof SanitisedCompletionQueue sanitised ? sanitised.queue : queue;
    }

    CompletionQueueRecord record() {
        return record;
    }

    @Override
    public int entries() {
        return queue.entries();
    }

    @Override
    public void resize(int minimumEntries) {
        queue.resize(minimumEntries);
        record.resized(queue.entries());
    }

    @Override
    public int poll(WorkCompletion[] completions, int max) {
        List<Finding> found;
        int count;
        lock.lock();
        try {
            count = queue.poll(completions, max);
            if (count < max) {
                record.emptied();
            }
            found = queuePairs.polled(record, completions, count);
        } catch (VerbsException e) {
            if (e.code() == VerbsErrorCode.QUEUE_OVERRUN) {
                queuePairs.lost(record);
            }
            throw e;
        } finally {
            lock.unlock();
        }
        watch.reporter().report(found);
        return count;
    }

    @Override
    public void requestNotification(boolean solicitedOnly) {
        lock.lock();
        try {
            queue.requestNotification(solicitedOnly);
            record.arming();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void acknowledgeEvents(int count) {
        queue.acknowledgeEvents(count);
    }

    @Override
    public void close() {
        queue.close();
        closed.run();
        lifetime.end();
    }

    @Override
    public String toString() {
        return queue.toString();
    }
}
