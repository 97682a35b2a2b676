package org.softrdma.rdmacore.abi;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Socket addresses between Java and C: {@code sockaddr_in}, {@code sockaddr_in6}. */
public final class SocketAddresses {
    private SocketAddresses() {}

    /**
     * Writes an address.
     *
     * @param to {@link ConnectionManagerAbi#SOCKET_ADDRESS_BYTES} zeroed bytes
     * @param address resolved
     */
    public static void write(long to, InetSocketAddress address) {
        InetAddress host = address.getAddress();
        boolean six = host instanceof Inet6Address;
        CMemory.putShort(
                to + ConnectionManagerAbi.ADDRESS_FAMILY,
                six ? ConnectionManagerAbi.FAMILY_6 : ConnectionManagerAbi.FAMILY_4);
        CMemory.putByte(to + ConnectionManagerAbi.ADDRESS_PORT, (byte) (address.getPort() >> Byte.SIZE));
        CMemory.putByte(to + ConnectionManagerAbi.ADDRESS_PORT + 1, (byte) address.getPort());
        if (host instanceof Inet6Address inet6) {
            CMemory.putBytes(to + ConnectionManagerAbi.ADDRESS_6, inet6.getAddress());
            CMemory.putInt(to + ConnectionManagerAbi.ADDRESS_6_SCOPE, inet6.getScopeId());
        } else {
            CMemory.putBytes(to + ConnectionManagerAbi.ADDRESS_4, ((Inet4Address) host).getAddress());
        }
    }

    /**
     * Reads an address.
     *
     * @param from a {@code sockaddr}
     * @throws AbiMismatchException if it is neither IPv4 nor IPv6
     */
    public static InetSocketAddress read(long from) {
        int high = CMemory.getByte(from + ConnectionManagerAbi.ADDRESS_PORT) & 0xFF;
        int low = CMemory.getByte(from + ConnectionManagerAbi.ADDRESS_PORT + 1) & 0xFF;
        int port = (high << Byte.SIZE) | low;
        short family = CMemory.getShort(from + ConnectionManagerAbi.ADDRESS_FAMILY);
        try {
            if (family == ConnectionManagerAbi.FAMILY_4) {
                byte[] bytes = CMemory.getBytes(from + ConnectionManagerAbi.ADDRESS_4, 4);
                return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
            }
            if (family == ConnectionManagerAbi.FAMILY_6) {
                byte[] bytes = CMemory.getBytes(from + ConnectionManagerAbi.ADDRESS_6, 16);
                int scope = CMemory.getInt(from + ConnectionManagerAbi.ADDRESS_6_SCOPE);
                InetAddress host =
                        scope == 0 ? InetAddress.getByAddress(bytes) : Inet6Address.getByAddress(null, bytes, scope);
                return new InetSocketAddress(host, port);
            }
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of 4 or 16 bytes", e);
        }
        throw new AbiMismatchException("a socket address of family " + family + ": expected AF_INET or AF_INET6");
    }
}
