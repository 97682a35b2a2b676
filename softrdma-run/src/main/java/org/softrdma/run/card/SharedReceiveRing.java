package org.softrdma.run.card;

import org.softrdma.run.faults.CardFaults;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.rxe.ReceiveElement;
import org.softrdma.run.rxe.RxeRing;
import org.softrdma.sim.queue.SoftSharedReceiveQueue;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SharedReceiveQueue;

/** A program's shared receive queue: the card takes a RECV out of the ring when a message needs one. */
public final class SharedReceiveRing {
    private static final int LIMIT_REACHED = 15;

    private RxeRing ring;
    private final int pieces;
    private final long cookie;
    private final int asyncEvents;
    private final EventWriter events;
    private final SharedReceiveQueue queue;
    private final CardFaults faults;
    private final ReceiveWorkRequest request = new ReceiveWorkRequest();
    private int limit;
    private int raised;
    private int next;

    /**
     * An empty one.
     *
     * @param ring where the program puts RECVs
     * @param pieces of a RECV
     * @param cookie by which the program knows it
     * @param asyncEvents writing end of the context's asynchronous events
     * @param faults what goes wrong
     */
    public SharedReceiveRing(
            ProtectionDomain domain,
            RxeRing ring,
            int pieces,
            long cookie,
            int asyncEvents,
            EventWriter events,
            CardFaults faults)
            throws CallRefusedException {
        this.ring = ring;
        this.pieces = pieces;
        this.cookie = cookie;
        this.asyncEvents = asyncEvents;
        this.events = events;
        this.faults = faults;
        queue = CardErrors.of(() -> domain.createSharedReceiveQueue(ring.capacity() + 1, Math.max(1, pieces)));
        ((SoftSharedReceiveQueue) queue).suppliedBy(this::supply);
    }

    /** The ring. */
    public RxeRing ring() {
        return ring;
    }

    /** Most pieces of a RECV. */
    public int pieces() {
        return pieces;
    }

    /** How many RECVs the card has not taken. */
    public int unread() {
        return ring.count(next, ring.producer());
    }

    /** Goes on in another ring, an empty one, with what was not taken. */
    public void moveTo(RxeRing other) {
        int count = unread();
        other.takeOver(ring, next, count);
        ring = other;
        next = 0;
        ring.produced(count);
    }

    /** By this the program knows it. */
    public long cookie() {
        return cookie;
    }

    /** How many asynchronous events there were. */
    public int raised() {
        return raised;
    }

    /** Raises an event once when fewer RECVs are left than that; never for 0. */
    public void arm(int newLimit) {
        limit = newLimit;
    }

    /** The limit, or 0 once it was reached. */
    public int limit() {
        return limit;
    }

    SharedReceiveQueue queue() {
        return queue;
    }

    private void supply() {
        int end = ring.producer();
        if (next == end || faults.withholdsReceives()) {
            return;
        }
        ReceiveElement.read(ring.bytes(), ring.element(next), pieces, request);
        if (queue.post(request) == PostStatus.ACCEPTED) {
            next = ring.next(next);
            ring.consumed(next);
            int left = ring.count(next, end);
            if (left < limit) {
                limit = 0;
                raised += events.asynchronous(asyncEvents, cookie, LIMIT_REACHED) ? 1 : 0;
            }
        }
    }

    /** Takes it away; no queue pair uses it any more. */
    public void close() {
        queue.close();
    }
}
