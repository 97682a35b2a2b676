package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.Optional;
import org.softrdma.verbs.QueuePairAddress;

/**
 * Where a queue pair is, little endian, within another message.
 *
 * <pre>
 *  31                            16 15                            0
 * +---------------------------------------------------------------+
 * |  address of the host, of IPv6 in network byte order; one of   |   0
 * |  IPv4 as IPv6 has it, ::ffff:a.b.c.d                          |
 * |                                                               |
 * |                                                               |
 * +-------------------------------+-------------------------------+
 * |  bytes that a packet carries  |  UDP port                     |  16
 * +-------------------------------+-------------------------------+
 * |  number of the queue pair                                     |  20
 * +---------------------------------------------------------------+
 * |  number of its first packet                                   |  24
 * +---------------------------------------------------------------+
 * |  key that a datagram to it must carry; else 0                 |  28
 * +---------------------------------------------------------------+
 * </pre>
 */
public final class HerdAddressDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int IPV6_LENGTH = 16;
    private static final int IPV4_LENGTH = 4;
    private static final int IPV4_OFFSET = IPV6_LENGTH - IPV4_LENGTH;
    private static final int PORT_MASK = 0xffff;

    static final int HOST_OFFSET = 0;
    static final int PORT_OFFSET = HOST_OFFSET + IPV6_LENGTH;
    static final int NUMBER_OFFSET = PORT_OFFSET + Integer.BYTES;
    static final int SEQUENCE_OFFSET = NUMBER_OFFSET + Integer.BYTES;
    static final int KEY_OFFSET = SEQUENCE_OFFSET + Integer.BYTES;

    /** Bytes of it. */
    public static final int LENGTH = KEY_OFFSET + Integer.BYTES;

    private HerdAddressDescriptor() {}

    /**
     * Writes it.
     *
     * @param address of the queue pair
     * @param key that a datagram to it must carry; 0 of a connection
     */
    public static void put(MemorySegment memory, long at, QueuePairAddress address, int key) {
        byte[] host = address.host().getAddress().getAddress();
        MemorySegment.copy(MemorySegment.ofArray(padded(host)), 0, memory, at + HOST_OFFSET, IPV6_LENGTH);
        memory.set(INT, at + PORT_OFFSET, address.host().getPort() | address.maxTransferUnit() << Short.SIZE);
        memory.set(INT, at + NUMBER_OFFSET, address.number());
        memory.set(INT, at + SEQUENCE_OFFSET, address.sequence());
        memory.set(INT, at + KEY_OFFSET, key);
    }

    private static byte[] padded(byte[] host) {
        if (host.length == IPV6_LENGTH) {
            return host;
        }
        byte[] padded = new byte[IPV6_LENGTH];
        padded[IPV4_OFFSET - 2] = (byte) 0xff;
        padded[IPV4_OFFSET - 1] = (byte) 0xff;
        System.arraycopy(host, 0, padded, IPV4_OFFSET, IPV4_LENGTH);
        return padded;
    }

    /** Reads it; empty if no queue pair can have such an address. */
    public static Optional<QueuePairAddress> get(MemorySegment memory, long at) {
        byte[] host = memory.asSlice(at + HOST_OFFSET, IPV6_LENGTH).toArray(ValueLayout.JAVA_BYTE);
        int port = memory.get(INT, at + PORT_OFFSET);
        try {
            return Optional.of(new QueuePairAddress(
                    new InetSocketAddress(InetAddress.getByAddress(host), port & PORT_MASK), // of IPv4 where it is one
                    memory.get(INT, at + NUMBER_OFFSET),
                    memory.get(INT, at + SEQUENCE_OFFSET),
                    port >>> Short.SIZE));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of " + host.length + " bytes", e);
        }
    }

    /** The key that a datagram to it must carry. */
    public static int key(MemorySegment memory, long at) {
        return memory.get(INT, at + KEY_OFFSET);
    }
}
