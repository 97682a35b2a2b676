package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Which hosts the 40 bytes in front of a datagram name. */
class RoutingHeaderTest {
    /** As SoftRoCE of Linux 6.1 wrote it in front of a datagram from 10.9.0.1 to 10.9.0.11. */
    private static final String HEADER_4 = "450000980000400040112638" + "0a090001" + "0a09000b";

    private static final String HEADER_6 =
            "600000000060" + "1140" + "fd090000000000000000000000000012" + "fd090000000000000000000000000001";

    private static MemorySegment bytes(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
    }

    private static void expect(String source, String destination, MemorySegment received) throws UnknownHostException {
        assertEquals(InetAddress.getByName(source), RoutingHeader.source(received));
        assertEquals(InetAddress.getByName(destination), RoutingHeader.destination(received));
    }

    @Test
    void shouldReadAHeaderOfIpv4BehindTwentyBytesWithoutMeaning() throws UnknownHostException {
        expect("10.9.0.1", "10.9.0.11", bytes("00".repeat(20) + HEADER_4));
        expect("10.9.0.1", "10.9.0.11", bytes("ff".repeat(20) + HEADER_4 + "0102"));
        expect("10.9.0.1", "10.9.0.11", bytes("60" + "00".repeat(19) + HEADER_4)); // looks like IPv6 at its beginning
    }

    @Test
    void shouldReadAHeaderOfIpv6() throws UnknownHostException {
        expect("fd09::12", "fd09::1", bytes(HEADER_6));
        // Byte 20 is in the middle of the source, and looks like the beginning of IPv4.
        String source = "fd09000000000000000000004512" + "0001";
        expect("fd09::4512:1", "fd09::1", bytes(HEADER_6.substring(0, 16) + source + HEADER_6.substring(48)));
    }

    @Test
    void shouldRefuseWhatIsNoHeader() {
        assertThrows(IllegalArgumentException.class, () -> RoutingHeader.source(bytes("00".repeat(40))));
        assertThrows(IllegalArgumentException.class, () -> RoutingHeader.source(bytes("db".repeat(40))));
        for (int length = 0; length < RoutingHeader.LENGTH; length++) {
            MemorySegment part = bytes("00".repeat(20) + HEADER_4).asSlice(0, length);
            assertThrows(IllegalArgumentException.class, () -> RoutingHeader.source(part));
        }
    }
}
