package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;

/**
 * Answers that go by one queue pair: each lies in one of a ring of buffers until it has left, and those of a turn are
 * posted with one doorbell. Other threads may post to the queue pair too.
 *
 * <p>Owned by who answers, a worker's thread; another one may tell what has completed, and how much was posted.
 */
final class ReplyRing {
    private static final int MOST_IN_A_LIST = 64;

    private final QueuePair queuePair;
    private final RegisteredMemory memory;
    private final long begin;
    private final int replyLength;
    private final int capacity;
    private final long kind;
    private final HerdSends sends;
    private final int mostListed;
    private final SendWorkRequestList list;
    private final AtomicLong posted = new AtomicLong();
    private int next;
    private long added;

    /**
     * An empty ring.
     *
     * @param queuePair with room for as many requests
     * @param memory in which the buffers are
     * @param begin where the first one begins
     * @param replyLength bytes of a buffer
     * @param capacity buffers
     * @param inline bytes of the longest answer that goes inline
     * @param kind bits of all wrIds above those of {@link HerdSends#nextSequence}
     */
    ReplyRing(
            QueuePair queuePair,
            RegisteredMemory memory,
            long begin,
            int replyLength,
            int capacity,
            int inline,
            long kind) {
        this.queuePair = queuePair;
        this.memory = memory;
        this.begin = begin;
        this.replyLength = replyLength;
        this.kind = kind;
        this.capacity = capacity;
        sends = new HerdSends(capacity, inline);
        mostListed = Math.min(capacity, MOST_IN_A_LIST);
        list = new SendWorkRequestList(mostListed);
    }

    MemorySegment memory() {
        return memory.segment();
    }

    /** True if there is room for so many more. */
    boolean hasRoom(int answers) {
        return sends.hasRoom(answers); // there are as many buffers as requests that may be on their way
    }

    /** Where the next answer begins. Needs {@link #hasRoom}. */
    long nextAt() {
        return begin + (long) next * replyLength;
    }

    /** The next answer is a SEND. */
    SendWorkRequest addSend(int length) {
        long wrId = kind | sends.nextSequence();
        int flags = sends.flags(length, false);
        return added(request().send(wrId, flags), length, flags);
    }

    /** The next answer is a WRITE. */
    void addWrite(int length, long address, int rkey) {
        long wrId = kind | sends.nextSequence();
        int flags = sends.flags(length, false);
        SendWorkRequest ignored = added(request().write(wrId, address, rkey, flags), length, flags);
    }

    private SendWorkRequest request() {
        if (list.size() == mostListed) {
            flush();
        }
        return list.next();
    }

    private SendWorkRequest added(SendWorkRequest request, int length, int flags) {
        SendWorkRequest whole = request.add(memory.region(), nextAt(), length);
        added = sends.posted(PostStatus.ACCEPTED, flags);
        next = (next + 1) % capacity;
        return whole;
    }

    /** Posts what was added. */
    void flush() {
        if (list.size() == 0) {
            return;
        }
        PostStatus status = queuePair.post(list);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for " + capacity + " requests");
        }
        list.clear();
        posted.setRelease(added); // acquired in posted()
    }

    // ---- any thread

    /** A signalled answer has completed. One thread. */
    void completed(long wrId) {
        sends.completed(wrId);
    }

    /** How many were posted. */
    long posted() {
        return posted.getAcquire();
    }

    /** True if so many have completed, as far as it is known. */
    boolean isDone(long number) {
        return sends.isDone(number);
    }

    /** True if a signalled answer has not completed. The owner. */
    boolean isWaiting() {
        return sends.isWaiting();
    }
}
