package org.softrdma.stores.herd;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.softrdma.stores.herd.transport.HerdPeer;

/** A client that is connected: its end, and how far the server is in its slots. Owned by the server's thread. */
final class HerdSeat {
    /** A request that is half there for so long is none. */
    static final long PART_LIMIT_NS = TimeUnit.SECONDS.toNanos(1);

    private static final long WHOLE = Long.MIN_VALUE;

    private final HerdPeer peer;
    private final long client;
    private final HerdSession session;
    private final long[] seen;
    private final long[] partSinceNs;

    HerdSeat(HerdPeer peer, long client, HerdSession session, int slots) {
        this.peer = peer;
        this.client = client;
        this.session = session;
        seen = new long[slots];
        partSinceNs = new long[slots];
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
}
