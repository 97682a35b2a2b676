package org.softrdma.kv.client.rdma;

/** What a client counts about its touch reports, over all its connections. Written by its owning thread. */
public final class TouchCounts {
    long reports;
    long named;
    long dropped;

    /** Nothing is counted yet. */
    public TouchCounts() {}

    /** Reports sent. */
    public long reports() {
        return reports;
    }

    /** READs whose items were named in reports; of an item that is READ again and again, two in an interval. */
    public long named() {
        return named;
    }

    /**
     * READs that the server is told of, but not of which items: a report was full and the last one not yet answered.
     */
    public long dropped() {
        return dropped;
    }
}
