package org.softrdma.stores.herd;

import org.softrdma.stores.herd.transport.HerdReplies;
import org.softrdma.stores.herd.wire.HerdShape;

/**
 * A worker's slots of a client, which are a ring: the client uses one after the other, so the worker looks at the next one
 * only. That is not the next request where one was lost, or came again; so from time to time, and whenever it has nothing to
 * do, the worker looks at all.
 * Owned by the worker's thread.
 */
final class HerdLane {
    /** How often a worker that is busy with others looks at all slots of a client that has no request in the next one. */
    static final long LOOK_NS = 100_000;

    private final HerdReplies replies;
    private final HerdShape shape;
    private int next;
    private long lookNs;

    /**
     * Nothing was asked yet.
     *
     * @param replies of the worker to the client
     * @param shape of the client's slots
     * @param worker its number
     * @param nowNs the time
     */
    HerdLane(HerdReplies replies, HerdShape shape, int worker, long nowNs) {
        this.replies = replies;
        this.shape = shape;
        next = shape.firstSlot(worker);
        lookNs = nowNs;
    }

    HerdReplies replies() {
        return replies;
    }

    /** The slot in which the next request is expected. */
    int next() {
        return next;
    }

    /** A request that is new was in a slot. */
    void taken(int slot) {
        next = shape.next(slot);
    }

    /** The next slot is empty; true if it is time to look at all. */
    boolean mayLook(long nowNs) {
        if (nowNs - lookNs < 0) {
            return false;
        }
        lookNs = nowNs + LOOK_NS;
        return true;
    }
}
