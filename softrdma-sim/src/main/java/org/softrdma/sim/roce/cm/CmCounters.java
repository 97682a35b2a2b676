package org.softrdma.sim.roce.cm;

/** What a connection manager has seen. One thread. */
public final class CmCounters {
    private long invalid;
    private long unexpected;
    private long repeated;
    private long duplicates;
    private long stale;
    private long backlogFull;
    private long unsent;

    CmCounters() {}

    void countInvalid() {
        invalid++;
    }

    void countUnexpected() {
        unexpected++;
    }

    void countRepeated() {
        repeated++;
    }

    void countDuplicate() {
        duplicates++;
    }

    void countStale() {
        stale++;
    }

    void countBacklogFull() {
        backlogFull++;
    }

    void countUnsent() {
        unsent++;
    }

    /** Messages to queue pair 1 that are none of the connection manager, or of a kind that it does not know. */
    public long invalid() {
        return invalid;
    }

    /** Messages for which there is no connection, or whose connection does not wait for them. */
    public long unexpected() {
        return unexpected;
    }

    /** Messages that this side has sent again because no answer came. */
    public long repeated() {
        return repeated;
    }

    /** Messages that came again. */
    public long duplicates() {
        return duplicates;
    }

    /** Requests of a queue pair that has a connection, as far as this side knows: the peer was restarted. */
    public long stale() {
        return stale;
    }

    /** Requests that were not heard because too many wait for the application. */
    public long backlogFull() {
        return backlogFull;
    }

    /** Refusals that were not sent because there was no memory for them. */
    public long unsent() {
        return unsent;
    }
}
