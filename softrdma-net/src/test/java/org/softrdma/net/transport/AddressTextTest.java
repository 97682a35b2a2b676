package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressTextTest {
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.1:7",
        "0.0.0.0, 0.0.0.0:7",
        "::1, [::1]:7",
        "::, [::]:7",
        "fe80::1:0:0:2, [fe80::1:0:0:2]:7"
    })
    void shouldShowAnAddressAsOptionsTakeIt(String host, String expected) throws Exception {
        assertEquals(expected, AddressText.of(new InetSocketAddress(InetAddress.getByName(host), 7)));
    }

    @Test
    void shouldShowTheScopeOfALinkLocalAddress() throws Exception {
        byte[] host = InetAddress.getByName("fe80::1").getAddress();
        InetAddress scoped = Inet6Address.getByAddress(null, host, 5);
        assertEquals("[fe80::1%5]:7", AddressText.of(new InetSocketAddress(scoped, 7)));
    }

    @Test
    void shouldShowTheFileOfAUnixSocket() {
        assertEquals("/tmp/socket", AddressText.of(UnixDomainSocketAddress.of("/tmp/socket")));
    }
}
