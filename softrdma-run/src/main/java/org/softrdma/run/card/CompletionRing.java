package org.softrdma.run.card;

import org.softrdma.run.rxe.CompletionElement;
import org.softrdma.run.rxe.RxeRing;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.WorkCompletion;

/**
 * A program's completion queue: the card writes, the program reads. A full one loses what comes, and says so once.
 *
 * <p>Armed, it raises an event behind the completion that it writes then. Whoever arms it looks at the ring once more, since what was
 * written before raises none, as in the kernel.
 */
public final class CompletionRing {
    private static final int NOT_ARMED = 0;
    private static final int ARMED_SOLICITED = 1;
    private static final int ARMED = 2;
    private static final int CQ_ERROR = 0;

    private RxeRing ring;
    private final long cookie;
    private final int channel;
    private final int asyncEvents;
    private final EventWriter events;
    private int armed;
    private int raised;
    private int failures;
    private boolean overrun;
    private int holds;
    private boolean heldSolicited;
    private boolean closed;
    private int next;

    /**
     * An empty one.
     *
     * @param cookie by which the program knows it
     * @param channel writing end of its channel, or a negative number
     * @param asyncEvents writing end of the context's asynchronous events
     */
    public CompletionRing(RxeRing ring, long cookie, int channel, int asyncEvents, EventWriter events) {
        this.ring = ring;
        this.cookie = cookie;
        this.channel = channel;
        this.asyncEvents = asyncEvents;
        this.events = events;
    }

    /** The ring. */
    public RxeRing ring() {
        return ring;
    }

    /** How many completions the program has not read. */
    public int unread() {
        return ring.count(ring.consumer(), next);
    }

    /** Goes on in another ring, an empty one, with what the program has not read. */
    public void moveTo(RxeRing other) {
        int count = unread();
        other.takeOver(ring, ring.consumer(), count);
        ring = other;
        next = count;
        ring.produced(next);
    }

    /** By this the program knows it. */
    public long cookie() {
        return cookie;
    }

    /** Raises an event with the next completion, or with the next one that is solicited or has failed. */
    public void arm(boolean solicitedOnly) {
        armed = Math.max(armed, solicitedOnly ? ARMED_SOLICITED : ARMED);
    }

    /** How many events its channel was given. */
    public int raised() {
        return raised;
    }

    /** How many asynchronous events there were. */
    public int failures() {
        return failures;
    }

    /** A request is complete. */
    void add(long number, int status, int operation, int vendorCode, int bytes, int pair) {
        if (!isFull()) {
            CompletionElement.write(
                    ring.bytes(), ring.element(next), number, status, operation, vendorCode, bytes, pair);
            publish(status != 0);
        }
    }

    /** A RECV has succeeded. */
    void addReceive(WorkCompletion completion, int pair, boolean solicited) {
        if (isFull()) {
            return;
        }
        long at = ring.element(next);
        int operation = completion.opcode() == CompletionOpcode.RECEIVE
                ? CompletionElement.RECEIVE
                : CompletionElement.RECEIVE_WRITE_IMMEDIATE;
        CompletionElement.write(
                ring.bytes(), at, completion.wrId(), 0, operation, 0, (int) completion.byteLength(), pair);
        if (completion.hasImmediate()) {
            CompletionElement.addImmediate(ring.bytes(), at, completion.immediate());
        } else if (completion.hasInvalidatedKey()) {
            CompletionElement.addInvalidated(ring.bytes(), at, completion.invalidatedKey());
        }
        if (completion.isDatagram()) {
            CompletionElement.addSender(ring.bytes(), at, completion.sourceNumber(), completion.hasRoutingHeader());
        }
        publish(solicited);
    }

    private boolean isFull() {
        boolean full = ring.next(next) == ring.consumer();
        if (full) {
            overrun();
        }
        return full;
    }

    /** A completion is lost because the queue is full, or as if it were. */
    void overrun() {
        if (!overrun) {
            overrun = true;
            failures += events.asynchronous(asyncEvents, cookie, CQ_ERROR) ? 1 : 0;
        }
    }

    /** What comes is not shown to the program before {@link #release}. */
    void hold() {
        holds++;
    }

    /** Shows the program what has come since {@link #hold}, if nobody else holds it. */
    void release() {
        holds--;
        if (holds == 0 && !closed) {
            show(heldSolicited);
            heldSolicited = false;
        }
    }

    /** Its memory is used no more. */
    public void close() {
        closed = true;
    }

    private void publish(boolean solicited) {
        next = ring.next(next);
        if (holds > 0) {
            heldSolicited |= solicited;
        } else {
            show(solicited);
        }
    }

    private void show(boolean solicited) {
        ring.produced(next);
        if (armed == ARMED || (armed == ARMED_SOLICITED && solicited)) {
            armed = NOT_ARMED;
            raised += channel >= 0 && events.completion(channel, cookie) ? 1 : 0;
        }
    }
}
