package org.softrdma.net.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A {@code struct sockaddr_in} or {@code struct sockaddr_in6}: address and port of one end. Family and scope are in the
 * machine's byte order, the rest is big endian. Stateless; any thread.
 *
 * <pre>
 *   IPv4                                      IPv6
 *   | family 2: 2   | port 2         |   0    | family 2: 10  | port 2         |   0
 *   | address 4                      |   4    | flow label 4: 0                |   4
 *   | 0, 8 bytes                     |   8    | address 16                     |   8
 *                                             | scope 4                        |  24
 * </pre>
 */
final class SocketName {
    /** Bytes for either. */
    static final int ROOM = 32;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfShort NETWORK_SHORT = SHORT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt NETWORK_INT = INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong NETWORK_LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int PORT_OFFSET = Short.BYTES;
    private static final int IPV4_OFFSET = PORT_OFFSET + Short.BYTES;
    private static final int HIGH_OFFSET = IPV4_OFFSET + Integer.BYTES;
    private static final int LOW_OFFSET = HIGH_OFFSET + Long.BYTES;
    private static final int SCOPE_OFFSET = LOW_OFFSET + Long.BYTES;
    private static final int IPV4_BYTES = HIGH_OFFSET + Long.BYTES;
    private static final int IPV6_BYTES = SCOPE_OFFSET + Integer.BYTES;

    /** Second half of ::ffff:a.b.c.d without a.b.c.d; the first half is 0. */
    private static final long MAPPED = 0xFFFF_0000_0000L;

    private SocketName() {}

    /**
     * Writes one.
     *
     * @param to where, aligned to 8
     * @param at offset of it
     * @param ipv6 its family; one of IPv4 is ::ffff:a.b.c.d
     * @param high first half of the address, big endian
     * @param low second half
     * @param scope of an IPv6 address
     * @return its bytes
     */
    static int put(MemorySegment to, long at, boolean ipv6, long high, long low, int port, int scope) {
        to.set(SHORT, at, ipv6 ? AF_INET6 : AF_INET);
        to.set(NETWORK_SHORT, at + PORT_OFFSET, (short) port);
        if (!ipv6) {
            to.set(NETWORK_INT, at + IPV4_OFFSET, (int) low);
            to.set(NETWORK_LONG, at + HIGH_OFFSET, 0);
            return IPV4_BYTES;
        }
        to.set(INT, at + IPV4_OFFSET, 0);
        to.set(NETWORK_LONG, at + HIGH_OFFSET, high);
        to.set(NETWORK_LONG, at + LOW_OFFSET, low);
        to.set(INT, at + SCOPE_OFFSET, scope);
        return IPV6_BYTES;
    }

    private static boolean isIpv6(MemorySegment from, long at) {
        return from.get(SHORT, at) == AF_INET6;
    }

    /** First half of the address, big endian. */
    static long high(MemorySegment from, long at) {
        return isIpv6(from, at) ? from.get(NETWORK_LONG, at + HIGH_OFFSET) : 0;
    }

    /** Second half; of an IPv4 address that of ::ffff:a.b.c.d. */
    static long low(MemorySegment from, long at) {
        return isIpv6(from, at)
                ? from.get(NETWORK_LONG, at + LOW_OFFSET)
                : MAPPED | Integer.toUnsignedLong(from.get(NETWORK_INT, at + IPV4_OFFSET));
    }

    /** The port. */
    static int port(MemorySegment from, long at) {
        return Short.toUnsignedInt(from.get(NETWORK_SHORT, at + PORT_OFFSET));
    }

    /** Scope of the address, 0 if it needs none. */
    static int scope(MemorySegment from, long at) {
        return isIpv6(from, at) ? from.get(INT, at + SCOPE_OFFSET) : 0;
    }
}
