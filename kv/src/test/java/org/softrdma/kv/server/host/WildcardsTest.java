package org.softrdma.kv.server.host;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WildcardsTest {
    @ParameterizedTest
    @CsvSource({
        "0.0.0.0, false, 192.0.2.1, true",
        "0.0.0.0, false, 2001:db8::1, false",
        "::, false, 192.0.2.1, true",
        "::, false, 2001:db8::1, true",
        "::, true, 192.0.2.1, false",
        "::, true, 2001:db8::1, true",
        "127.0.0.1, false, 127.0.0.1, true",
        "::1, true, ::1, true"
    })
    void shouldMeanTheFamilyOfTheAddress(String local, boolean ipv6Only, String peer, boolean meant) {
        assertEquals(meant, Wildcards.isMeant(InetAddress.ofLiteral(local), ipv6Only, InetAddress.ofLiteral(peer)));
    }
}
