package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;

/** A worker's answers by a reliable connection: SENDs. Owned by the worker's thread. */
class RcReplies implements HerdReplies {
    private final ReplyRing ring;
    private final StoreCounters counters;

    /**
     * No answer yet.
     *
     * @param ring of this worker and this client
     * @param counters of the worker
     */
    RcReplies(ReplyRing ring, StoreCounters counters) {
        this.ring = ring;
        this.counters = counters;
    }

    /** The ring. */
    final ReplyRing ring() {
        return ring;
    }

    /** One more answer goes by this. */
    protected final void count(StoreCounter counter) {
        counters.increment(counter);
    }

    @Override
    public boolean hasRoom(int answers) {
        return ring.hasRoom(answers);
    }

    @Override
    public final MemorySegment memory() {
        return ring.memory();
    }

    @Override
    public final long nextAt() {
        return ring.nextAt();
    }

    @Override
    public void add(int length) {
        var ignored = ring.addSend(length);
        count(StoreCounter.SENDS);
    }

    @Override
    public final void flush() {
        ring.flush();
    }
}
