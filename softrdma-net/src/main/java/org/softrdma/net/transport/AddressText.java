package org.softrdma.net.transport;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * Addresses as messages show them and options take them: {@code 127.0.0.1:11212}, {@code [::1]:11212},
 * {@code [fe80::1%eth0]:11212}, without the host name and slash of the JDK's form.
 */
public final class AddressText {
    private AddressText() {}

    /** The text of an address; of one that is no host and port, such as a Unix socket's, the JDK's form. */
    public static String of(SocketAddress address) {
        return address instanceof InetSocketAddress tcp ? of(tcp) : address.toString();
    }

    /** The text of an address. */
    public static String of(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        int scope = host == null ? -1 : host.getHostAddress().indexOf('%');
        String text = NetUtil.toSocketAddressString(address);
        return scope < 0 ? text : text.replace("]", host.getHostAddress().substring(scope) + "]");
    }
}
