package org.softrdma.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.transport.AddressText;

/** Addresses as people write them. */
class HostPortTest {
    private static final int PORT = 11211;

    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, 10.0.0.1:11211",
        "10.0.0.1:1, 10.0.0.1:1",
        "::1, [::1]:11211",
        "[::1], [::1]:11211",
        "[::1]:7, [::1]:7"
    })
    void shouldTakeAServerWithAndWithoutAPort(String text, String expected) {
        assertEquals(expected, AddressText.of(HostPort.server("--server", text, PORT)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":1", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:x", "10.0.0.1:", "10.0.0.1:-1"})
    void shouldSayWhatItExpects(String text) {
        UserErrorException failure =
                assertThrows(UserErrorException.class, () -> HostPort.server("--server", text, PORT));
        assertEquals("--server " + text + ": expected HOST or HOST:PORT", failure.getMessage());
    }

    @Test
    void shouldListenOnAFreePortButNotOnNone() {
        InetSocketAddress any = HostPort.listener("--listen", "127.0.0.1:0");
        assertEquals("127.0.0.1:0", AddressText.of(any));
        assertEquals(any, HostPort.listener("--listen", AddressText.of(any)));
        UserErrorException failure =
                assertThrows(UserErrorException.class, () -> HostPort.listener("--listen", "127.0.0.1"));
        assertEquals("--listen 127.0.0.1: expected HOST:PORT", failure.getMessage());
    }
}
