package org.softrdma.verbs;

import java.net.InetSocketAddress;

/**
 * What a peer must know of a queue pair to connect to it without a connection manager. The application exchanges it,
 * both ways, by any means.
 *
 * @param host address and UDP port of its device; kernels and cards always use port {@value #PORT}
 * @param number {@link QueuePair#number()}, 24 bits
 * @param sequence number of the first packet that it sends, 24 bits (C: {@code sq_psn}; it is the peer's {@code
 *     rq_psn})
 * @param maxTransferUnit bytes of payload that a packet to it may carry; both ends use the lesser of the two
 */
public record QueuePairAddress(InetSocketAddress host, int number, int sequence, int maxTransferUnit) {
    /** The UDP port of RoCEv2. */
    public static final int PORT = 4791;

    private static final int MOST = (1 << 24) - 1;

    /** Checks the numbers. */
    public QueuePairAddress {
        check("number", number);
        check("sequence", sequence);
        if (maxTransferUnit < 256 || maxTransferUnit > 4096 || Integer.bitCount(maxTransferUnit) != 1) {
            throw new IllegalArgumentException(
                    "maxTransferUnit=" + maxTransferUnit + ": expected 256, 512, 1024, 2048 or 4096");
        }
    }

    private static void check(String name, int value) {
        if (value < 0 || value > MOST) {
            throw new IllegalArgumentException(name + "=" + value + ": expected 0 to " + MOST);
        }
    }
}
