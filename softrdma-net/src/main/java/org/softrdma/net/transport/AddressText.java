package org.softrdma.net.transport;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;

/**
 * Addresses in messages: {@code 127.0.0.1:11212}, {@code [::1]:11212}, without the host name and slash of the JDK's
 * form.
 */
public final class AddressText {
    private AddressText() {}

    /** The text of an address. */
    public static String of(InetSocketAddress address) {
        return NetUtil.toSocketAddressString(address);
    }
}
