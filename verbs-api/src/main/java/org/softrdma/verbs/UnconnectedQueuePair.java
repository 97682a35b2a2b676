package org.softrdma.verbs;

import java.util.Set;

/**
 * A queue pair that was created without a connection manager ({@link ProtectionDomain#createQueuePair}), and whose owner
 * takes it from state to state (C: {@code ibv_modify_qp}). The application tells the two ends each other's {@link
 * #address()}, and each goes two steps:
 *
 * <pre>
 *   INITIAL -- readyToReceive --> READY_TO_RECEIVE -- readyToSend --> READY_TO_SEND      {@link #connect} is both
 *   RECVs can be posted           the peer's packets are taken        requests can be posted
 *
 *   READY_TO_SEND -- drain --> SEND_QUEUE_DRAIN -- resume, readyToSend --> READY_TO_SEND
 *                              SEND_QUEUE_ERROR -- resume --> READY_TO_SEND
 *   any but CLOSED -- disconnect --> ERROR
 *   any but CLOSED -- reset --> RESET -- initialise --> INITIAL
 * </pre>
 *
 * <p>A queue pair of datagrams needs no peer: it is READY_TO_SEND from its creation, or from {@link #initialise} on. A step
 * that does not begin in the state of the queue pair is refused with IllegalStateException, and changes nothing.
 *
 * <p>No message of a connection manager is behind this. Whoever sends first must have heard from the application that
 * the peer is READY_TO_RECEIVE: before that, an unreliable connection loses what is sent, and a reliable one repeats it
 * for some seconds and then gives up. {@link #disconnect} takes only this end to ERROR. The peer of a reliable
 * connection notices when it sends, that of an unreliable one never.
 */
public interface UnconnectedQueuePair extends QueuePair {
    /**
     * What peers must know of it. Its sequence is drawn at random, again after each {@link #reset}; datagrams need only
     * host and number.
     */
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
     * READY_TO_SEND. In SEND_QUEUE_DRAIN this is {@link #resume} with other attributes.
     *
     * @param attributes how it sends
     * @throws IllegalArgumentException if it has begun to send, and {@code attributes} name a sequence
     * @throws IllegalStateException if it is neither READY_TO_RECEIVE nor in SEND_QUEUE_DRAIN nor in ERROR, or if it {@link
     *     #isDraining}
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

    /**
     * Lets the peer do this and nothing else, by whatever key (C: {@code qp_access_flags}). At first it may do everything
     * that regions and windows let it do. What a reliable connection's peer may not do ends the connection with
     * REMOTE_INVALID_REQUEST_ERROR; an unreliable one drops it.
     *
     * @param rights of REMOTE_READ, REMOTE_WRITE and REMOTE_ATOMIC
     * @throws IllegalArgumentException if {@code rights} has another flag
     * @throws IllegalStateException if it is in RESET, READY_TO_RECEIVE or CLOSED
     * @throws VerbsException {@code CONNECTION_LOST} if it has gone to ERROR, or another code of the device
     */
    void permit(Set<AccessFlag> rights);

    /**
     * Begins no send work request from now on (C: {@code ibv_modify_qp} to {@code IBV_QPS_SQD}). Those that were begun are
     * completed; then {@link #isDraining} ends, and the device raises {@link
     * AsyncEvent.QueuePairEvent.Kind#SEND_QUEUE_DRAINED}. Those that were not begun wait, and so do those that are posted.
     * The peer is served as before.
     *
     * @throws IllegalStateException if it is not READY_TO_SEND
     * @throws VerbsException {@code CONNECTION_LOST} if it has gone to ERROR, or {@code NOT_SUPPORTED} of a device that
     *     cannot do this
     */
    void drain();

    /** True in SEND_QUEUE_DRAIN until all that was begun is complete (C: {@code sq_draining}). */
    boolean isDraining();

    /**
     * Sends again what is posted, and what has waited (C: {@code ibv_modify_qp} to {@code IBV_QPS_RTS}).
     *
     * @throws IllegalStateException if it is neither in SEND_QUEUE_DRAIN nor in SEND_QUEUE_ERROR
     * @throws VerbsException {@code CONNECTION_LOST} if it has gone to ERROR, or another code of the device
     */
    void resume();

    /**
     * Forgets its peer, its rights, and everything that was posted, of which no completion tells any more (C: {@code
     * ibv_modify_qp} to {@code IBV_QPS_RESET}). Windows that were bound on it are bound no more. Its number stays.
     * Completions that are in a queue already can still be polled. Who waits for {@link #disconnected} is told; a queue
     * pair that was reset has another such stage.
     *
     * @throws IllegalStateException if it is CLOSED
     */
    void reset();

    /**
     * Begins again (C: {@code ibv_modify_qp} from {@code IBV_QPS_RESET} to {@code IBV_QPS_INIT}). The queue pair is as a
     * new one.
     *
     * @param rights of the peer, as of {@link #permit}
     * @throws IllegalArgumentException as of {@link #permit}
     * @throws IllegalStateException if it is not in RESET
     * @throws VerbsException of the device; the queue pair is then in RESET or in ERROR
     */
    void initialise(Set<AccessFlag> rights);
}
