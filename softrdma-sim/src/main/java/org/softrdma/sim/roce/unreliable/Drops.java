package org.softrdma.sim.roce.unreliable;

/** Packets of unreliable queue pairs that did nothing, by cause. Engine thread only. */
public final class Drops {
    /** Why. */
    public enum Cause {
        /** It never came, or it came behind one that was sent after it. */
        MISSING,
        /** It came behind one that was sent after it, or twice. */
        LATE,
        /** An earlier packet of its message was missing or dropped. */
        INCOMPLETE,
        /** There was no RECV for it. */
        NO_RECEIVE,
        /** Its message is longer than its RECV. */
        TOO_LONG,
        /** A WRITE to memory that the peer may not write. */
        ACCESS_REFUSED,
        /** Its length, or that of its WRITE, is not what its place in the message asks for. */
        WRONG_LENGTH,
        /** A datagram with another queue key. */
        WRONG_QUEUE_KEY
    }

    private final long[] counts = new long[Cause.values().length];

    /** None yet. */
    public Drops() {}

    void add(Cause cause, long packets) {
        counts[cause.ordinal()] += packets;
    }

    /** How many since this was last asked. */
    public long take(Cause cause) {
        long count = counts[cause.ordinal()];
        counts[cause.ordinal()] = 0;
        return count;
    }
}
