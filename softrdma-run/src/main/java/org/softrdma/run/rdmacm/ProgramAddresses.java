package org.softrdma.run.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.Optional;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/**
 * Addresses of programs: {@code struct sockaddr_in} and {@code struct sockaddr_in6}. The family and the interface are in host byte order,
 * the rest is big endian.
 *
 * <pre>
 *              IPv4                    IPv6
 *    0  family: 2                family: 10          2 bytes
 *    2  port                     port                2
 *    4  address (4)              flow label          4
 *    8  zeros (8)                address            16
 *   24                           interface           4
 *   28
 * </pre>
 */
final class ProgramAddresses {
    static final int LENGTH = 28;

    private static final int INET = 2;
    private static final int INET6 = 10;
    private static final int PORT_OFFSET = 2;
    private static final int IPV4_OFFSET = 4;
    private static final int IPV4_LENGTH = 4;
    private static final int IPV6_OFFSET = 8;
    private static final int IPV6_LENGTH = 16;
    private static final int SCOPE_OFFSET = 24;
    private static final ValueLayout.OfShort PORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private ProgramAddresses() {}

    /**
     * Reads one.
     *
     * @return empty if it has no family: it is left open
     * @throws CallRefusedException if it is of another family, such as AF_IB, which makes libraries ask for IP
     */
    static Optional<InetSocketAddress> read(MemorySegment from, int at) throws CallRefusedException {
        int port = from.get(PORT, at + PORT_OFFSET) & 0xFFFF;
        int family = from.get(ValueLayout.JAVA_SHORT_UNALIGNED, at);
        return switch (family) {
            case 0 -> Optional.empty();
            case INET -> Optional.of(new InetSocketAddress(address(from, at + IPV4_OFFSET, IPV4_LENGTH, 0), port));
            case INET6 ->
                Optional.of(new InetSocketAddress(
                        address(
                                from,
                                at + IPV6_OFFSET,
                                IPV6_LENGTH,
                                from.get(ValueLayout.JAVA_INT_UNALIGNED, at + SCOPE_OFFSET)),
                        port));
            default -> throw new CallRefusedException(ErrorNumber.EAFNOSUPPORT);
        };
    }

    private static InetAddress address(MemorySegment from, int at, int length, int scope) throws CallRefusedException {
        byte[] bytes = from.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
        try {
            InetAddress address = InetAddress.getByAddress(bytes);
            return scope != 0 && address instanceof Inet6Address
                    ? Inet6Address.getByAddress(null, bytes, scope)
                    : address;
        } catch (UnknownHostException e) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
    }

    /** Writes one. */
    static void write(MemorySegment to, int at, InetSocketAddress address) {
        byte[] bytes = address.getAddress().getAddress();
        boolean ipv4 = bytes.length == IPV4_LENGTH;
        to.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) (ipv4 ? INET : INET6));
        to.set(PORT, at + PORT_OFFSET, (short) address.getPort());
        MemorySegment.copy(bytes, 0, to, ValueLayout.JAVA_BYTE, at + (ipv4 ? IPV4_OFFSET : IPV6_OFFSET), bytes.length);
        if (address.getAddress() instanceof Inet6Address ipv6) {
            to.set(ValueLayout.JAVA_INT_UNALIGNED, at + SCOPE_OFFSET, ipv6.getScopeId());
        }
    }
}
