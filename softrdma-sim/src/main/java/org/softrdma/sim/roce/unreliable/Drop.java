package org.softrdma.sim.roce.unreliable;

/** Why a packet of an unreliable queue pair did nothing; {@link #label()} is the name of its counter in snapshots. */
public enum Drop {
    /** It never came, or it came behind one that was sent after it. */
    MISSING("roce.missing"),
    /** It came behind one that was sent after it, or twice. */
    LATE("roce.late"),
    /** An earlier packet of its message was missing or dropped. */
    INCOMPLETE("roce.incomplete"),
    /** There was no RECV for it. */
    NO_RECEIVE("roce.noReceive"),
    /** Its message is longer than its RECV. */
    TOO_LONG("roce.tooLong"),
    /** A WRITE to memory that the peer may not write. */
    ACCESS_REFUSED("roce.accessRefused"),
    /** Its length, or that of its WRITE, is not what its place in the message asks for. */
    WRONG_LENGTH("roce.wrongLength"),
    /** A datagram with another queue key. */
    WRONG_QUEUE_KEY("roce.wrongQueueKey");

    private final String label;

    Drop(String label) {
        this.label = label;
    }

    /** The name of its counter. */
    public String label() {
        return label;
    }
}
