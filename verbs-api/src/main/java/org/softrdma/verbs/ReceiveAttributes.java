package org.softrdma.verbs;

import java.util.OptionalInt;

/**
 * What a queue pair must know before it takes its peer's packets (C: {@code ibv_qp_attr} of {@code IBV_QPS_RTR}).
 *
 * @param peer where they come from, with the sequence of the first one
 * @param inboundReads READs and atomics in flight that it grants the peer, at most what the device can (IRD; C: {@code
 *     max_dest_rd_atomic}). An unreliable connection has none
 * @param receiverNotReadyTimer code of the time after which the peer repeats a SEND that has found no RECV, 0 to 31 (C:
 *     {@code min_rnr_timer}); empty for the device's own
 */
public record ReceiveAttributes(QueuePairAddress peer, int inboundReads, OptionalInt receiverNotReadyTimer) {
    private static final int MOST_CODE = 31;

    /** Checks the numbers. */
    public ReceiveAttributes {
        if (inboundReads < 0) {
            throw new IllegalArgumentException("inboundReads=" + inboundReads + ": must not be negative");
        }
        SendAttributes.check("receiverNotReadyTimer", receiverNotReadyTimer, MOST_CODE);
    }

    /**
     * With the device's own timer.
     *
     * @param peer {@link UnconnectedQueuePair#address()} of the peer
     * @param inboundReads READs and atomics in flight that it grants the peer
     */
    public static ReceiveAttributes of(QueuePairAddress peer, int inboundReads) {
        return new ReceiveAttributes(peer, inboundReads, OptionalInt.empty());
    }

    /**
     * The same with fewer READs, if there are more.
     *
     * @param reads most READs and atomics in flight
     */
    public ReceiveAttributes atMost(int reads) {
        return new ReceiveAttributes(peer, Math.min(inboundReads, reads), receiverNotReadyTimer);
    }

    /**
     * The same with another timer.
     *
     * @param code of the time, 0 to 31
     */
    public ReceiveAttributes withReceiverNotReadyTimer(int code) {
        return new ReceiveAttributes(peer, inboundReads, OptionalInt.of(code));
    }
}
