package org.softrdma.verbs;

/**
 * Sizes of a queue pair (C: {@code ibv_qp_cap}). You request the minimum that you need; {@link QueuePair#limits()}
 * returns what you got.
 *
 * @param maxSendWorkRequests work requests that may be outstanding on the send queue, at least 1
 * @param maxReceiveWorkRequests RECVs that may be outstanding, at least 1
 * @param maxSendScatterGather scatter/gather entries of a SEND or WRITE, at least 1
 * @param maxReceiveScatterGather scatter/gather entries of a RECV, at least 1
 * @param maxInline bytes of an inline SEND or WRITE, 0 for none
 */
public record QueuePairLimits(
        int maxSendWorkRequests,
        int maxReceiveWorkRequests,
        int maxSendScatterGather,
        int maxReceiveScatterGather,
        int maxInline) {
    /** 128 requests each way, one entry each, no inline data. */
    public static final QueuePairLimits DEFAULT = new QueuePairLimits(128, 128, 1, 1, 0);

    /**
     * One entry each, no inline data.
     *
     * @param sends outstanding send work requests
     * @param receives outstanding RECVs
     */
    public static QueuePairLimits of(int sends, int receives) {
        return new QueuePairLimits(sends, receives, 1, 1, 0);
    }
}
