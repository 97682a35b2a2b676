package org.softrdma.sim.rdmap;

import java.util.function.LongPredicate;
import org.softrdma.sim.queue.RingSize;

/**
 * This side's READs and atomics that wait for their response (ORRQ, RFC 5040 section 6.2), oldest first. Bounded by the
 * negotiated ORD. Engine thread only.
 */
public final class OutboundReadQueue {
    private final int limit;
    private final int mask;
    private final long[] sequences;
    private long head;
    private long tail;

    /**
     * An empty queue.
     *
     * @param limit maximum number of READs and atomics in flight; 0 allows none
     */
    public OutboundReadQueue(int limit) {
        this.limit = limit;
        int capacity = RingSize.atLeast(limit);
        mask = capacity - 1;
        sequences = new long[capacity];
    }

    /** True if one more may be sent. */
    public boolean hasRoom() {
        return tail - head < limit;
    }

    /** True if none is in flight. */
    public boolean isEmpty() {
        return head == tail;
    }

    /** True if exactly one is in flight. */
    public boolean hasOne() {
        return tail - head == 1;
    }

    /** A READ or an atomic was sent; returns its message sequence number, from 1. */
    public int add(long sequence) {
        sequences[(int) tail & mask] = sequence;
        return (int) ++tail;
    }

    /** Removes the newest one, because a short write did not send it. */
    public void undo() {
        tail--;
    }

    /** Sequence on the send queue of the oldest one; only if not empty. */
    public long oldest() {
        return sequences[(int) head & mask];
    }

    /** Message sequence number of the oldest one; only if not empty. */
    public int oldestMsn() {
        return (int) (head + 1);
    }

    /** Sequence on the send queue of the oldest one of a kind, or -1 if none is in flight. */
    public long oldest(LongPredicate kind) {
        for (long i = head; i < tail; i++) {
            long sequence = sequences[(int) i & mask];
            if (kind.test(sequence)) {
                return sequence;
            }
        }
        return -1;
    }

    /** The oldest one has received its data. */
    public void complete() {
        head++;
    }

    /** Sequence on the send queue of the one with a message sequence number, or -1 if it is not in flight. */
    public long ofMsn(int msn) {
        for (long i = head; i < tail; i++) {
            if ((int) (i + 1) == msn) {
                return sequences[(int) i & mask];
            }
        }
        return -1;
    }
}
