package org.softrdma.stores.herd;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.softrdma.stores.herd.transport.HerdPeer;
import org.softrdma.stores.herd.wire.HerdShape;

/**
 * A client that is connected: its end, and how far the server is in its slots. Owned by the server's thread; each worker
 * has its lane, and what is told of its slots.
 */
final class HerdSeat {
    /** A request that is half there for so long is none. */
    static final long PART_LIMIT_NS = TimeUnit.SECONDS.toNanos(1);

    private static final long WHOLE = Long.MIN_VALUE;

    private final HerdPeer peer;
    private final long client;
    private final HerdSession session;
    private final HerdLane[] lanes;
    private final long[] seen;
    private final long[] partSinceNs;
    private volatile boolean condemned;

    /**
     * A client that has come.
     *
     * @param peer its end
     * @param client as it has named itself
     * @param session what is remembered of it
     * @param shape of its slots
     * @param nowNs the time
     */
    HerdSeat(HerdPeer peer, long client, HerdSession session, HerdShape shape, long nowNs) {
        this.peer = peer;
        this.client = client;
        this.session = session;
        lanes = new HerdLane[shape.workers()];
        Arrays.setAll(lanes, worker -> new HerdLane(peer.replies(worker), shape, worker, nowNs));
        seen = new long[shape.slots()];
        partSinceNs = new long[shape.slots()];
        Arrays.fill(partSinceNs, WHOLE);
    }

    HerdPeer peer() {
        return peer;
    }

    long client() {
        return client;
    }

    HerdSession session() {
        return session;
    }

    // ---- of a worker

    /** Its slots and answers. */
    HerdLane lane(int worker) {
        return lanes[worker];
    }

    /** Poll words of the requests that were taken, by slot. */
    long[] seen() {
        return seen;
    }

    /** There is a part of a request in a slot; true if that is so for too long. */
    boolean isPartForTooLong(int slot, long nowNs) {
        if (partSinceNs[slot] == WHOLE) {
            partSinceNs[slot] = nowNs;
        }
        return nowNs - partSinceNs[slot] > PART_LIMIT_NS;
    }

    /** The request in a slot is whole. */
    void isWhole(int slot) {
        partSinceNs[slot] = WHOLE;
    }

    // ---- any thread

    /** The client has done what it must not: no worker serves it any more, and the server ends its connection. */
    void condemn() {
        condemned = true;
    }

    boolean isCondemned() {
        return condemned;
    }
}
