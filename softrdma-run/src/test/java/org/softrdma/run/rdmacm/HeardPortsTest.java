package org.softrdma.run.rdmacm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class HeardPortsTest {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    /** Lines of /proc/net/udp of a little endian machine. */
    private static String line(String address) {
        return "  42: " + address + " 00000000:0000 07 00000000:00000000 00:00000000 00000000 1000 0 11 2 0 0";
    }

    private static List<Integer> of(InetAddress address, String... sockets) {
        return HeardPorts.of(
                address, Stream.of(sockets).map(HeardPortsTest::line).toList());
    }

    @Test
    void shouldTellThePortsOfAnAddressInTheirOrder() {
        assertEquals(
                List.of(4791, 32_769, 33_023),
                of(LOOPBACK, "0100007F:80FF", "0100007F:8001", "0100007F:12B7", "0100007F:0035", "0200007F:8002"));
        assertEquals(List.of(32_770), of(LOOPBACK, "0100007F:8002"));
    }

    @Test
    void shouldTellThoseThatAreAtEveryAddress() {
        assertEquals(List.of(4791), of(LOOPBACK, "00000000:12B7"));
        assertEquals(List.of(32_769), of(LOOPBACK, "00000000000000000000000000000000:8001"));
    }

    @Test
    void shouldTellThoseOfIpv6() {
        InetAddress address = InetAddress.ofLiteral("2001:db8::1");
        assertEquals(List.of(32_771), of(address, "B80D0120000000000000000001000000:8003", "0100007F:12B7"));
    }

    @Test
    void shouldTakeTheWellKnownPortIfNothingIsKnown() {
        assertEquals(
                List.of(4791),
                HeardPorts.of(LOOPBACK, List.of("  sl  local_address rem_address   st tx_queue rx_queue", "")));
    }
}
