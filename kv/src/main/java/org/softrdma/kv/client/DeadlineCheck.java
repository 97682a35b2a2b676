package org.softrdma.kv.client;

/** A look at the limits of all that wait on a connection: which time is over, and when to look again. */
final class DeadlineCheck {
    private final long nowNs;
    private boolean alive = true;
    private long nextNs = Long.MAX_VALUE;

    DeadlineCheck(long nowNs) {
        this.nowNs = nowNs;
    }

    /** Of one whose answer is on its way: if it is missing for too long the connection counts as dead. */
    void sent(Pending request) {
        request.checkDeadline(nowNs);
        alive &= nowNs - request.patienceEndNs() < 0;
        nextNs = Math.min(nextNs, request.nextCheckNs());
    }

    /** Of one that could not be sent yet; true if its time is over. */
    boolean isOver(Pending request) {
        request.checkDeadline(nowNs);
        if (!request.isDone()) {
            nextNs = Math.min(nextNs, request.nextCheckNs());
        }
        return request.isDone();
    }

    /** False if the connection counts as dead. */
    boolean isAlive() {
        return alive;
    }

    /** When to look again. */
    long nextNs() {
        return nextNs;
    }
}
