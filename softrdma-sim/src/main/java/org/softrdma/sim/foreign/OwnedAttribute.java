package org.softrdma.sim.foreign;

/** What the owner of a queue pair sets, each with its name in {@code enum ibv_qp_attr_mask}. */
public enum OwnedAttribute {
    /** Bits of {@code enum ibv_access_flags} that peers get. */
    ACCESS_FLAGS("IBV_QP_ACCESS_FLAGS"),
    /** Bytes of payload in a full packet. */
    PATH_MTU("IBV_QP_PATH_MTU"),
    /** Number of the peer's queue pair. */
    DESTINATION("IBV_QP_DEST_QPN"),
    /** PSN with which the peer begins to send. */
    RECEIVE_PSN("IBV_QP_RQ_PSN"),
    /** READs and atomics of the peer in flight. */
    INBOUND_READS("IBV_QP_MAX_DEST_RD_ATOMIC"),
    /** Code of the time that a peer waits for if no RECV is posted. */
    RNR_TIMER("IBV_QP_MIN_RNR_TIMER"),
    /** PSN with which this side begins to send. */
    SEND_PSN("IBV_QP_SQ_PSN"),
    /** READs and atomics of this side in flight. */
    OUTBOUND_READS("IBV_QP_MAX_QP_RD_ATOMIC"),
    /** Code of the time after which a packet is sent again. */
    TIMEOUT("IBV_QP_TIMEOUT"),
    /** How often. */
    RETRIES("IBV_QP_RETRY_CNT"),
    /** How often a peer may say that it is not ready. */
    RNR_RETRIES("IBV_QP_RNR_RETRY");

    private final String mask;

    OwnedAttribute(String mask) {
        this.mask = mask;
    }

    /** Its name in C. */
    public String mask() {
        return mask;
    }
}
