package org.softrdma.rdmacore.fake;

import java.util.ArrayDeque;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;

/** An {@code ibv_srq}. Under the fake's lock. */
final class FakeSharedQueue {
    static final int BYTES = 128;

    final long pointer;
    final long domain;
    private final int capacity;
    private final Runnable limitReached;
    private final ArrayDeque<FakeQueuePair.Work> waiting = new ArrayDeque<>();
    private int limit;

    FakeSharedQueue(long pointer, long domain, int capacity, Runnable limitReached) {
        this.pointer = pointer;
        this.domain = domain;
        this.capacity = capacity;
        this.limitReached = limitReached;
        CMemory.putLong(pointer + VerbsAbi.SHARED_QUEUE_DOMAIN, domain);
    }

    ArrayDeque<FakeQueuePair.Work> waiting() {
        return waiting;
    }

    /** False if it is full. */
    boolean post(FakeQueuePair.Work work) {
        if (waiting.size() == capacity) {
            return false;
        }
        waiting.addLast(work);
        return true;
    }

    /** As rxe: looks at the limit only when a RECV is taken. */
    FakeQueuePair.Work take() {
        FakeQueuePair.Work first = waiting.removeFirst();
        if (waiting.size() < limit) {
            limit = 0;
            limitReached.run();
        }
        return first;
    }

    void limit(int newLimit) {
        limit = newLimit;
    }
}
