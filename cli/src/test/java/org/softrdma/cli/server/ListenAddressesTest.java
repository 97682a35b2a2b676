package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.server.host.Wildcards;

class ListenAddressesTest {
    private static final int PORT = 11211;

    private static List<String> of(String... lists) throws Exception {
        return ListenAddresses.of(List.of(lists), PORT).addresses().stream()
                .map(address -> address.getAddress().getHostAddress() + " " + address.getPort())
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.1 11211",
        "127.0.0.1:7, 127.0.0.1 7",
        "::1, 0:0:0:0:0:0:0:1 11211",
        "[::1], 0:0:0:0:0:0:0:1 11211",
        "[::1]:7, 0:0:0:0:0:0:0:1 7",
        "127.0.0.1:0, 127.0.0.1 0"
    })
    void shouldTakeAHostWithOrWithoutAPort(String word, String expected) throws Exception {
        assertEquals(List.of(expected), of(word));
    }

    @Test
    void shouldTakeAListAndSeveralLists() throws Exception {
        assertEquals(
                List.of("127.0.0.1 11211", "127.0.0.2 7", "127.0.0.3 11211", "127.0.0.4 11211"),
                of("127.0.0.1,127.0.0.2:7;127.0.0.3", "127.0.0.4"));
    }

    /** As with memcached: 0.0.0.0 and ::, and all addresses of a name. */
    @Test
    void shouldTakeAllAddressesOfANameAndOfTheHost() throws Exception {
        List<InetSocketAddress> all = Wildcards.everywhere(7);
        assertEquals(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 7), all.getFirst());
        assertEquals(all, ListenAddresses.of(List.of(), 7).addresses());
        assertEquals(all, ListenAddresses.of(List.of("*"), 7).addresses());
        assertEquals(all, ListenAddresses.of(List.of("*:7"), PORT).addresses());
        InetAddress[] ofName = InetAddress.getAllByName("localhost");
        assertEquals(
                Arrays.stream(ofName)
                        .map(each -> new InetSocketAddress(each, 7))
                        .distinct()
                        .toList(),
                ListenAddresses.of(List.of("localhost:7"), PORT).addresses());
    }

    @Test
    void shouldTellThoseThatAreNotEncrypted() throws Exception {
        List<String> lists = List.of("notls:127.0.0.1:7,127.0.0.2", "notls:[::1]");
        assertEquals(
                List.of("127.0.0.1 7", "127.0.0.2 11211", "0:0:0:0:0:0:0:1 11211"), of(lists.toArray(String[]::new)));
        assertEquals(
                Set.of(
                        new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 7),
                        new InetSocketAddress(InetAddress.ofLiteral("::1"), PORT)),
                ListenAddresses.of(lists, PORT).clear());
        assertEquals(Set.of(), ListenAddresses.of(List.of(), PORT).clear());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "notls:",
                "127.0.0.1,",
                "127.0.0.1:x",
                "127.0.0.1:65536",
                "[::1",
                "[::1]7",
                "127.0.0.1:-1",
                "notls:127.0.0.1,127.0.0.1:11211"
            })
    void shouldNameWhatIsNoAddress(String list) {
        IllegalArgumentException failure = assertThrows(IllegalArgumentException.class, () -> of(list));
        assertTrue(String.valueOf(failure.getMessage()).startsWith("-l"), failure::getMessage);
    }
}
