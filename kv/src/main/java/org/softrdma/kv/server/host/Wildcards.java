package org.softrdma.kv.server.host;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.util.List;

/** The addresses that stand for all addresses of this host, each for those of its family. No state; any thread. */
public final class Wildcards {
    /** {@code 0.0.0.0}. */
    public static final InetAddress IPV4 = InetAddress.ofLiteral("0.0.0.0");

    /** {@code ::}. */
    public static final InetAddress IPV6 = InetAddress.ofLiteral("::");

    private Wildcards() {}

    /**
     * All addresses of this host: those of IPv6 only where there is IPv6.
     *
     * @param port of both
     */
    public static List<InetSocketAddress> everywhere(int port) {
        InetSocketAddress ipv4 = new InetSocketAddress(IPV4, port);
        return hasIpv6() ? List.of(ipv4, new InetSocketAddress(IPV6, port)) : List.of(ipv4);
    }

    private static boolean hasIpv6() {
        try (ServerSocketChannel _ = ServerSocketChannel.open(StandardProtocolFamily.INET6)) {
            return true;
        } catch (UnsupportedOperationException | IOException e) {
            return false;
        }
    }

    /**
     * Whether somebody came to an address that is meant. Java's sockets and those of rdma_cm may take connections of the
     * other family, too.
     *
     * @param local where one listens
     * @param ipv6Only if {@code ::} does not mean IPv4, too
     * @param peer who came
     */
    public static boolean isMeant(InetAddress local, boolean ipv6Only, InetAddress peer) {
        boolean ofOtherFamily =
                local instanceof Inet4Address ? peer instanceof Inet6Address : ipv6Only && peer instanceof Inet4Address;
        return !(local.isAnyLocalAddress() && ofOtherFamily);
    }
}
