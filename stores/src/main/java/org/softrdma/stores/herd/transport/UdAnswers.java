package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Set;
import org.agrona.CloseHelper;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The answers of a server to all its clients, by one queue pair of datagrams: they lie in a ring of buffers. The server's
 * thread.
 */
final class UdAnswers implements AutoCloseable {
    /** Answers that may be on their way. */
    static final int CAPACITY = 512;

    private final QueuePair queuePair;
    private final RegisteredMemory replies;
    private final int replyLength;
    private final HerdSends sends;
    private final StoreCounters counters;
    private final long[] sent = new long[CAPACITY];
    private final Queue<FormerWay> formerWays = new ArrayDeque<>();
    private int next;
    private long lastPosted;
    private long nowNs;

    /** The way to a client that has gone: open until the last answer that may name it has completed. */
    private record FormerWay(AddressHandle way, long number) {}

    /**
     * No answer yet.
     *
     * @param queuePair with room for {@link #CAPACITY} of them
     * @param longest bytes of the longest answer
     * @param inline bytes of the longest that goes inline
     * @param counters counts SENDs
     */
    UdAnswers(
            VerbsDevice device,
            ProtectionDomain domain,
            QueuePair queuePair,
            int longest,
            int inline,
            StoreCounters counters) {
        this.queuePair = queuePair;
        this.counters = counters;
        sends = new HerdSends(CAPACITY, inline);
        replyLength = HerdShape.slotLength(longest);
        replies = new RegisteredMemory(device, domain, (long) CAPACITY * replyLength, Set.of(AccessFlag.LOCAL_WRITE));
    }

    /** A round of the server begins. */
    void begin(long newNowNs) {
        nowNs = newNowNs;
    }

    /** When this round began. */
    long nowNs() {
        return nowNs;
    }

    boolean hasRoom() {
        return !sends.isFull() && sends.isDone(sent[next]);
    }

    MemorySegment memory() {
        return replies.segment();
    }

    /** Where the next answer begins. Needs {@link #hasRoom}. */
    long nextAt() {
        return (long) next * replyLength;
    }

    /**
     * Sends the next answer.
     *
     * @param way to the client's device
     * @param number of its queue pair
     * @param key that the queue pair wants to see
     * @param length bytes of the answer
     */
    void send(AddressHandle way, int number, int key, int length) {
        int flags = sends.flags(length, false);
        PostStatus status =
                queuePair.postSendTo(sends.nextSequence(), replies.region(), nextAt(), length, way, number, key, flags);
        lastPosted = sends.posted(status, flags);
        if (!sends.fitsInline(length)) {
            sent[next] = lastPosted;
            next = (next + 1) % CAPACITY;
        }
        counters.increment(StoreCounter.SENDS);
    }

    /** A signalled answer has completed. */
    void completed(long wrId) {
        sends.completed(wrId);
    }

    /** No answer goes this way any more. */
    void leave(AddressHandle way) {
        formerWays.add(new FormerWay(way, lastPosted));
    }

    void closeFormerWays() {
        FormerWay oldest = formerWays.peek();
        while (oldest != null && sends.isDone(oldest.number)) {
            oldest.way.close();
            FormerWay ignored = formerWays.remove();
            oldest = formerWays.peek();
        }
    }

    /** Once its queue pair is closed. */
    @Override
    public void close() {
        formerWays.forEach(former -> former.way.close());
        formerWays.clear();
        CloseHelper.closeAll(replies);
    }
}
