package org.softrdma.sim.engine;

/** What an outgoing segment is. */
enum SegmentKind {
    /** Ready-to-receive, a WRITE of no bytes. */
    READY_TO_RECEIVE(Counter.SENT_WRITE),
    /** Part of a READ response. */
    READ_RESPONSE(Counter.SENT_READ_RESPONSE),
    /** READ request. */
    READ_REQUEST(Counter.SENT_READ_REQUEST),
    /** Part of a WRITE. */
    WRITE(Counter.SENT_WRITE),
    /** Part of a SEND. */
    SEND(Counter.SENT_SEND),
    /** Terminate. */
    TERMINATE(Counter.TERMINATES_SENT);

    private final Counter counter;

    SegmentKind(Counter counter) {
        this.counter = counter;
    }

    Counter counter() {
        return counter;
    }
}
