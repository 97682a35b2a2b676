package org.softrdma.verbs;

import java.util.OptionalInt;

/**
 * What a queue pair must know before it sends requests (C: {@code ibv_qp_attr} of {@code IBV_QPS_RTS}). What is empty
 * is the device's own choice. An unreliable connection has a sequence only.
 *
 * @param sequence number of the first packet, 24 bits (C: {@code sq_psn}); empty for that of {@link
 *     UnconnectedQueuePair#address()}. Whoever sets another one must tell the peer
 * @param outboundReads READs and atomics that this end may have in flight, at most what the device can (ORD; C: {@code
 *     max_rd_atomic})
 * @param timeout code t of the longest time without an answer, 4.096 us x 2^t, after which a packet is sent again, 0 to
 *     31; 0 is for ever (C: {@code timeout})
 * @param retries how often in a row, 0 to 7 (C: {@code retry_cnt})
 * @param receiverNotReadyRetries how often in a row the peer may have no RECV, 0 to 6; 7 is for ever (C: {@code
 *     rnr_retry})
 */
public record SendAttributes(
        OptionalInt sequence,
        int outboundReads,
        OptionalInt timeout,
        OptionalInt retries,
        OptionalInt receiverNotReadyRetries) {
    private static final int MOST_SEQUENCE = (1 << 24) - 1;
    private static final int MOST_TIMEOUT = 31;
    private static final int MOST_RETRIES = 7;

    /** Checks the numbers. */
    public SendAttributes {
        if (outboundReads < 0) {
            throw new IllegalArgumentException("outboundReads=" + outboundReads + ": must not be negative");
        }
        check("sequence", sequence, MOST_SEQUENCE);
        check("timeout", timeout, MOST_TIMEOUT);
        check("retries", retries, MOST_RETRIES);
        check("receiverNotReadyRetries", receiverNotReadyRetries, MOST_RETRIES);
    }

    static void check(String name, OptionalInt value, int most) {
        if (value.isPresent() && (value.getAsInt() < 0 || value.getAsInt() > most)) {
            throw new IllegalArgumentException(name + "=" + value.getAsInt() + ": expected 0 to " + most);
        }
    }

    /**
     * All else as the device has it.
     *
     * @param outboundReads READs and atomics that this end may have in flight
     */
    public static SendAttributes ofReads(int outboundReads) {
        return new SendAttributes(
                OptionalInt.empty(), outboundReads, OptionalInt.empty(), OptionalInt.empty(), OptionalInt.empty());
    }

    /**
     * The same with fewer READs, if there are more.
     *
     * @param reads most READs and atomics in flight
     */
    public SendAttributes atMost(int reads) {
        return new SendAttributes(sequence, Math.min(outboundReads, reads), timeout, retries, receiverNotReadyRetries);
    }

    /**
     * The same with another first packet.
     *
     * @param newSequence its number
     */
    public SendAttributes withSequence(int newSequence) {
        return new SendAttributes(
                OptionalInt.of(newSequence), outboundReads, timeout, retries, receiverNotReadyRetries);
    }

    /**
     * The same with other patience for a peer that does not answer.
     *
     * @param code of the time without an answer
     * @param times how often in a row a packet is sent again
     */
    public SendAttributes withTimeout(int code, int times) {
        return new SendAttributes(
                sequence, outboundReads, OptionalInt.of(code), OptionalInt.of(times), receiverNotReadyRetries);
    }

    /**
     * The same with other patience for a peer that has no RECV.
     *
     * @param times how often in a row; 7 is for ever
     */
    public SendAttributes withReceiverNotReadyRetries(int times) {
        return new SendAttributes(sequence, outboundReads, timeout, retries, OptionalInt.of(times));
    }
}
