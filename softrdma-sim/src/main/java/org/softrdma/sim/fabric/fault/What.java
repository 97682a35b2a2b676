package org.softrdma.sim.fabric.fault;

/**
 * What goes wrong. Faults of a connection or of a datagram happen to the one that sets them off; at a time they need nodes.
 */
public sealed interface What {
    /** The connection is reset; both ends learn it at once. */
    record Reset() implements What {}

    /**
     * What the connection has under way in this direction arrives later, or the datagram does.
     *
     * @param ns how much later
     */
    record Delay(long ns) implements What {}

    /**
     * A bit of the next byte in this direction changes. Only CRC sees that.
     *
     * @param bit 0 to 7
     */
    record Corrupt(int bit) implements What {}

    /** The datagram does not arrive. */
    record Lose() implements What {}

    /** The datagram arrives once more. */
    record Repeat() implements What {}

    /**
     * Nothing gets from one node to another, in either direction.
     *
     * @param one a node
     * @param other a node
     * @param ns how long
     */
    record Partition(String one, String other, long ns) implements What {}

    /**
     * The processes and devices of a node end; its kernel closes their connections.
     *
     * @param node which
     */
    record Kill(String node) implements What {}

    /**
     * A node loses its power.
     *
     * @param node which
     */
    record PowerOff(String node) implements What {}

    /**
     * A node stands still.
     *
     * @param node which
     * @param ns how long
     * @param devices its RNICs too, and not only its processes
     */
    record Pause(String node, long ns, boolean devices) implements What {}
}
