package org.softrdma.ibverbs;

import java.net.Inet6Address;
import java.net.InetSocketAddress;

/** Socket addresses in messages: {@code 10.0.0.1:7174}, {@code [fe80::1]:7174}. */
public final class SocketAddressText {
    private SocketAddressText() {}

    public static String of(InetSocketAddress address) {
        if (address.isUnresolved()) {
            return address.getHostString() + ":" + address.getPort();
        }
        String host = address.getAddress().getHostAddress();
        return (address.getAddress() instanceof Inet6Address ? "[" + host + "]" : host) + ":" + address.getPort();
    }
}
