package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * The 40 bytes in front of a received datagram, which say where it comes from (C: {@code ibv_grh}). The device writes
 * them; they are there if {@link WorkCompletion#hasRoutingHeader()}.
 *
 * <pre>
 *   over IPv6: the header of IPv6, as it came       over IPv4: 20 bytes without meaning, then the header of IPv4
 *    0  version, class, label                        0  undefined
 *    4  length, next header, hop limit              20  version and length (0x45), service, length, ...
 *    8  source                                      32  source
 *   24  destination                                 36  destination
 * </pre>
 *
 * <p>Network byte order. Whoever sends a datagram on a network that is not trusted can put any source into it.
 */
public final class RoutingHeader {
    /** Bytes in front of every datagram. */
    public static final int LENGTH = 40;

    private static final int VERSION_6 = 0x60;
    private static final int VERSION_MASK = 0xF0;
    private static final int SOURCE_6_OFFSET = 8;
    private static final int ADDRESS_6_LENGTH = 16;
    private static final int HEADER_4_OFFSET = 20;
    private static final int VERSION_4_WITHOUT_OPTIONS = 0x45;
    private static final int SOURCE_4_OFFSET = HEADER_4_OFFSET + 12;
    private static final int ADDRESS_4_LENGTH = 4;

    private RoutingHeader() {}

    /**
     * The address of the host that sent a datagram.
     *
     * @param received the buffer of the RECV
     * @throws IllegalArgumentException if it does not begin with such a header
     */
    public static InetAddress source(MemorySegment received) {
        return address(received, 0);
    }

    /**
     * The address that a datagram was sent to.
     *
     * @param received the buffer of the RECV
     * @throws IllegalArgumentException if it does not begin with such a header
     */
    public static InetAddress destination(MemorySegment received) {
        return address(received, 1);
    }

    private static InetAddress address(MemorySegment received, int index) {
        if (received.byteSize() < LENGTH) {
            throw new IllegalArgumentException(
                    received.byteSize() + " bytes: expected at least the " + LENGTH + " of a routing header");
        }
        boolean maybe4 = byteAt(received, HEADER_4_OFFSET) == VERSION_4_WITHOUT_OPTIONS;
        boolean maybe6 = (byteAt(received, 0) & VERSION_MASK) == VERSION_6;
        if (maybe4 && (!maybe6 || isChecksumRight(received))) {
            return read(received, SOURCE_4_OFFSET + index * ADDRESS_4_LENGTH, ADDRESS_4_LENGTH);
        }
        if (maybe6) {
            return read(received, SOURCE_6_OFFSET + index * ADDRESS_6_LENGTH, ADDRESS_6_LENGTH);
        }
        throw new IllegalArgumentException("no routing header: byte 0 is 0x"
                + Integer.toHexString(byteAt(received, 0)) + " and byte 20 is 0x"
                + Integer.toHexString(byteAt(received, HEADER_4_OFFSET)) + ", expected 0x6. of IPv6 or 0x45 of IPv4");
    }

    /** True if the last 20 bytes are a header of IPv4, not the middle of IPv6 addresses that looks like its beginning. */
    private static boolean isChecksumRight(MemorySegment received) {
        int sum = 0;
        for (int offset = HEADER_4_OFFSET; offset < LENGTH; offset += Short.BYTES) {
            sum += (byteAt(received, offset) << Byte.SIZE) | byteAt(received, offset + 1);
        }
        return (sum & 0xFFFF) + (sum >>> Short.SIZE) == 0xFFFF;
    }

    private static int byteAt(MemorySegment received, int offset) {
        return received.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
    }

    private static InetAddress read(MemorySegment received, int offset, int length) {
        try {
            return InetAddress.getByAddress(received.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of 4 or 16 bytes", e);
        }
    }
}
