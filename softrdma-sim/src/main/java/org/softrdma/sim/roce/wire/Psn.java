package org.softrdma.sim.roce.wire;

/**
 * Packet sequence numbers: 24 bits, modulo 2^24. Of two numbers the one from which the other is reached in fewer than
 * 2^23 steps forward is the earlier (IBA volume 1, 9.7.2). Message sequence numbers count in the same way.
 */
public final class Psn {
    /** The bits of a number. */
    public static final int MASK = 0xFF_FFFF;

    private static final int HALF = 1 << 23;

    private Psn() {}

    /** The number that lies {@code count} behind {@code psn}; a negative count leads back. */
    public static int plus(int psn, int count) {
        return psn + count & MASK;
    }

    /** The steps from {@code from} to {@code to}: -2^23 to 2^23 - 1, negative if {@code to} is the earlier. */
    public static int distance(int from, int to) {
        return ((to - from + HALF) & MASK) - HALF;
    }

    /** True if {@code psn} is earlier than {@code other}. */
    public static boolean isBefore(int psn, int other) {
        return distance(psn, other) > 0;
    }

    /**
     * The packets that carry a message; an empty one takes one packet.
     *
     * @param messageLength bytes, 0 to 2^31
     * @param transferUnit bytes of payload in a full packet, above 0
     */
    public static int packets(long messageLength, int transferUnit) {
        return (int) Math.max(1, (messageLength + transferUnit - 1) / transferUnit);
    }
}
