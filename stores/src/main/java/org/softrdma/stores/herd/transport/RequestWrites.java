package org.softrdma.stores.herd.transport;

import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;

/** WRITEs a client's requests, each to the end of its slot at the server, whatever connects the two. Owned by one thread. */
final class RequestWrites {
    private final QueuePair queuePair;
    private final HerdSends sends;
    private final RegisteredMemory slots;
    private final HerdWelcome welcome;
    private final StoreCounters counters;
    private final long[] writes;

    /**
     * No request yet.
     *
     * @param queuePair connected
     * @param sends counts what is in its send queue
     * @param slots where requests are laid out
     * @param welcome where they go
     * @param counters counts WRITEs
     */
    RequestWrites(
            QueuePair queuePair, HerdSends sends, RegisteredMemory slots, HerdWelcome welcome, StoreCounters counters) {
        this.queuePair = queuePair;
        this.sends = sends;
        this.slots = slots;
        this.welcome = welcome;
        this.counters = counters;
        writes = new long[welcome.shape().slots()];
    }

    /** As {@link HerdChannel#isFree}. */
    boolean isFree(int slot) {
        return sends.isDone(writes[slot]);
    }

    /** As {@link HerdChannel#write}. */
    void write(int slot, int length) {
        boolean inline = sends.fitsInline(length);
        int flags = sends.flags(length, !inline);
        long begin = welcome.shape().end(slot) - length;
        PostStatus status = queuePair.postWrite(
                ClientQueues.SEND | sends.nextSequence(),
                slots.region(),
                begin,
                length,
                welcome.slots().address() + begin,
                welcome.slots().rkey(),
                flags);
        long number = sends.posted(status, flags);
        if (!inline) {
            writes[slot] = number;
        }
        counters.increment(StoreCounter.WRITES);
    }
}
