package org.softrdma.stores.client;

/**
 * An operation of a client, used again and again. What a started one waits for, the design knows. Owned by the client's
 * thread.
 */
public abstract class ClientOperation {
    private final int index;
    private Use use = Use.FREE;
    private long tag;
    private long order;
    private long deadlineNs;

    private enum Use {
        /** Nobody uses it. */
        FREE,
        /** It was asked for. */
        STARTED,
        /** Its handler has been called, and has not returned. */
        DELIVERED
    }

    /**
     * A free one.
     *
     * @param index its number among those of its client, from 0
     */
    protected ClientOperation(int index) {
        this.index = index;
    }

    /** Its number among those of its client, from 0. */
    public final int index() {
        return index;
    }

    /** The number that its result is delivered with. */
    public final long tag() {
        return tag;
    }

    /** Higher than that of every operation that was started before. */
    public final long order() {
        return order;
    }

    /** When it ends at the latest. */
    public final long deadlineNs() {
        return deadlineNs;
    }

    /** True from its start until its result is delivered. */
    public final boolean isStarted() {
        return use == Use.STARTED;
    }

    final boolean isFree() {
        return use == Use.FREE;
    }

    final void start(long newOrder, long newTag, long newDeadlineNs) {
        use = Use.STARTED;
        order = newOrder;
        tag = newTag;
        deadlineNs = newDeadlineNs;
    }

    final void delivering() {
        use = Use.DELIVERED;
    }

    final void free() {
        use = Use.FREE;
    }
}
