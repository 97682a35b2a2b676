package org.softrdma.verbs;

/**
 * A queue pair that was created without a connection manager ({@link ProtectionDomain#createQueuePair}), and whose owner
 * takes it from state to state. The application tells the two ends each other's {@link #address()}, and each goes two
 * steps:
 *
 * <pre>
 *   INITIAL -- readyToReceive --> READY_TO_RECEIVE -- readyToSend --> READY_TO_SEND      {@link #connect} is both
 *   RECVs can be posted           the peer's packets are taken        requests can be posted
 * </pre>
 *
 * <p>A queue pair of datagrams needs no peer: it is READY_TO_SEND from its creation.
 *
 * <p>No message of a connection manager is behind this. Whoever sends first must have heard from the application that
 * the peer is READY_TO_RECEIVE: before that, an unreliable connection loses what is sent, and a reliable one repeats it
 * for some seconds and then gives up. {@link #disconnect} takes only this end to ERROR. The peer of a reliable
 * connection notices when it sends, that of an unreliable one never.
 */
public interface UnconnectedQueuePair extends QueuePair {
    /** What peers must know of it. Its sequence is drawn at random; datagrams need only host and number. */
    QueuePairAddress address();

    /**
     * Takes the packets of a peer from now on, without waiting for it (C: {@code ibv_modify_qp} to {@code
     * IBV_QPS_RTR}). The queue pair is then READY_TO_RECEIVE: SENDs fill its RECVs, and READs, WRITEs and atomics of
     * the peer are served. Nothing is negotiated: the READs that one end wants are those that the other must grant.
     *
     * @param attributes the peer, and what it may do
     * @throws IllegalStateException if it is not in state INITIAL, as a queue pair of datagrams never is
     * @throws IllegalArgumentException if the peer's address is of another family than that of this device
     * @throws VerbsException {@code UNREACHABLE}, {@code TIMED_OUT}, or another code of the device; then the queue pair
     *     is in ERROR
     */
    void readyToReceive(ReceiveAttributes attributes);

    /**
     * Sends what is posted from now on (C: {@code ibv_modify_qp} to {@code IBV_QPS_RTS}). The queue pair is then
     * READY_TO_SEND.
     *
     * @param attributes how it sends
     * @throws IllegalStateException if it is neither READY_TO_RECEIVE nor in ERROR
     * @throws VerbsException {@code CONNECTION_LOST} if it has gone to ERROR meanwhile, or another code of the device;
     *     then the queue pair is in ERROR
     */
    void readyToSend(SendAttributes attributes);

    /**
     * Connects to a peer: {@link #readyToReceive}, then {@link #readyToSend}, with what is the device's own choice.
     *
     * @param peer {@link #address()} of the peer
     * @param outboundReads READs and atomics that this end may have in flight, at most what the device can (ORD)
     * @param inboundReads those that it grants the peer, at most what the device can (IRD)
     * @throws IllegalStateException if it is not in state INITIAL, as a queue pair of datagrams never is
     * @throws IllegalArgumentException if the peer's address is of another family than that of this device, or if a
     *     number is negative
     * @throws VerbsException as of the two steps
     */
    default void connect(QueuePairAddress peer, int outboundReads, int inboundReads) {
        SendAttributes sends = SendAttributes.ofReads(outboundReads); // refused before anything has changed
        readyToReceive(ReceiveAttributes.of(peer, inboundReads));
        readyToSend(sends);
    }
}
