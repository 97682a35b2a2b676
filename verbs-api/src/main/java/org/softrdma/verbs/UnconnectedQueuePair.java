package org.softrdma.verbs;

/**
 * A queue pair that was created without a connection manager ({@link ProtectionDomain#createQueuePair}). The
 * application tells the two ends each other's {@link #address()}, and each {@linkplain #connect connects}. A queue pair
 * of datagrams needs no connecting: it is READY_TO_SEND from its creation.
 *
 * <p>No message of a connection manager is behind this. Whoever connects first must wait until the application has heard
 * that the peer has connected, too: before that, an unreliable connection loses what is sent, and a reliable one
 * repeats it for some seconds and then gives up. {@link #disconnect} takes only this end to ERROR. The peer of a reliable
 * connection notices when it sends, that of an unreliable one never.
 */
public interface UnconnectedQueuePair extends QueuePair {
    /** What peers must know of it. Its sequence is drawn at random; datagrams need only host and number. */
    QueuePairAddress address();

    /**
     * Connects to a peer (C: {@code ibv_modify_qp} to {@code IBV_QPS_RTR} and {@code IBV_QPS_RTS}), without waiting for
     * it. The queue pair is then READY_TO_SEND. Nothing is negotiated: the READs that one end wants are those that the
     * other must grant. An unreliable connection has none.
     *
     * @param peer {@link #address()} of the peer
     * @param outboundReads READs and atomics that this end may have in flight, at most what the device can (ORD)
     * @param inboundReads those that it grants the peer, at most what the device can (IRD)
     * @throws IllegalStateException if it is not in state INITIAL, as a queue pair of datagrams never is
     * @throws IllegalArgumentException if the peer's address is of another family than that of this device, or if a
     *     number is negative
     * @throws VerbsException {@code UNREACHABLE}, {@code TIMED_OUT}, or another code of the device; then the queue pair
     *     is in ERROR
     */
    void connect(QueuePairAddress peer, int outboundReads, int inboundReads);
}
