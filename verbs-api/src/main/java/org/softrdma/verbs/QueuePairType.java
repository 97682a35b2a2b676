package org.softrdma.verbs;

/** What a queue pair promises, and what it can do (C: {@code enum ibv_qp_type}). */
public enum QueuePairType {
    /**
     * Every request arrives once and in order, or its queue pair goes to ERROR (C: {@code IBV_QPT_RC}). It takes every
     * {@link SendOpcode}.
     */
    RELIABLE_CONNECTION(Feature.CONNECTION_BY_ADDRESS),
    /**
     * SENDs and WRITEs to one peer, which arrive in order and at most once, or not at all (C: {@code IBV_QPT_UC}).
     * Success means that a request has left. What the peer refuses or has no RECV for is lost like a lost packet, and
     * nobody is told. Of a lost WRITE the beginning may have been placed.
     */
    UNRELIABLE_CONNECTION(Feature.UNRELIABLE_CONNECTION),
    /**
     * Datagrams to any number of peers, each by an {@link AddressHandle} (C: {@code IBV_QPT_UD}). They arrive whole,
     * in any order, or not at all; one that the network doubles arrives twice.
     */
    UNRELIABLE_DATAGRAM(Feature.UNRELIABLE_DATAGRAM);

    private final Feature feature;

    QueuePairType(Feature feature) {
        this.feature = feature;
    }

    /** The feature that a device needs for {@link ProtectionDomain#createQueuePair} with this type. */
    public Feature feature() {
        return feature;
    }

    /**
     * True if its queue pairs take a request.
     *
     * @param opcode what the request does
     */
    public boolean takes(SendOpcode opcode) {
        return switch (this) {
            case RELIABLE_CONNECTION -> true;
            case UNRELIABLE_CONNECTION -> !opcode.isAnswered() && opcode != SendOpcode.SEND_INVALIDATE;
            case UNRELIABLE_DATAGRAM -> opcode == SendOpcode.SEND || opcode == SendOpcode.SEND_IMMEDIATE;
        };
    }
}
