package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A value is never taken for commands where its length is known, whatever else is wrong with the request. */
class RefusedValueTest {
    private static final String REFUSED = "CLIENT_ERROR bad command line format\r\n";

    /** A value that is a command, and would be answered. */
    private static final String VALUE = "delete victim";

    private static final String LONG_KEY = "k".repeat(251);
    private static final RunningServer RUNNING = new RunningServer();

    @AfterAll
    static void stop() {
        RUNNING.close();
    }

    static Stream<String> refused() {
        List<String> lines = new ArrayList<>();
        for (String command : List.of("set", "add", "replace", "append", "prepend", "cas")) {
            String cas = command.equals("cas") ? " 1" : "";
            for (String noreply : List.of("", " noreply")) {
                String end = " 13" + cas + noreply;
                lines.add(command + " k x 0" + end);
                lines.add(command + " k -1 0" + end);
                lines.add(command + " k 18446744073709551616 0" + end);
                lines.add(command + " k 0 x" + end);
                lines.add(command + " k 0 9223372036854775808" + end);
                lines.add(command + " k 0 -9223372036854775809" + end);
                lines.add(command + " " + LONG_KEY + " 0 0" + end);
            }
        }
        lines.add("cas k 0 0 13 x");
        lines.add("cas k 0 0 13 -1");
        lines.add("ms " + LONG_KEY + " 13");
        return lines.stream();
    }

    @ParameterizedTest
    @MethodSource("refused")
    void shouldSwallowTheValueOfWhatIsRefused(String line) throws IOException {
        try (RawMemcached client = new RawMemcached(RUNNING.address())) {
            client.send("set victim 0 0 1\r\nx\r\n" + line + "\r\n" + VALUE + "\r\nget victim\r\n");
            String expected =
                    "STORED\r\n" + (line.endsWith("noreply") ? "" : REFUSED) + "VALUE victim 0 1\r\nx\r\nEND\r\n";
            assertEquals(expected, client.read(expected.length()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"4294967295", "2147483648", "4294967296", "9223372036854775807", "-9223372036854775808"})
    void shouldTakeAnExptimeOf64BitsWithItsValue(String exptime) throws IOException {
        try (RawMemcached client = new RawMemcached(RUNNING.address())) {
            String expected = "STORED\r\nSTORED\r\nVALUE victim 0 1\r\nx\r\nEND\r\n";
            client.send("set victim 0 0 1\r\nx\r\nset k 0 " + exptime + " 13\r\n" + VALUE + "\r\nget victim\r\n");
            assertEquals(expected, client.read(expected.length()));
        }
    }

    @Test
    void shouldEndAConnectionWithALongLineBeforeLogin(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("passwords");
        Files.writeString(file, "alice:secret\n");
        Passwords passwords = Passwords.read(file);
        try (RunningServer server = new RunningServer(context -> context.passwords(passwords));
                RawMemcached before = new RawMemcached(server.address());
                RawMemcached after = new RawMemcached(server.address())) {
            before.send("get " + "k ".repeat(1100));
            assertTrue(before.isClosedByServer());
            assertEquals("STORED\r\n", after.ask("set any 0 0 12\r\nalice secret\r\n", "STORED\r\n"));
            assertEquals("END\r\n", after.ask("get " + "k ".repeat(1100) + "\r\n", "END\r\n"));
        }
    }

    @Test
    void shouldSwallowValuesBeforeLogin(@TempDir Path directory) throws IOException {
        File file = directory.resolve("passwords").toFile();
        Files.writeString(file.toPath(), "alice:secret\n");
        Passwords passwords = Passwords.read(file.toPath());
        try (RunningServer server = new RunningServer(context -> context.passwords(passwords));
                RawMemcached client = new RawMemcached(server.address())) {
            String line = "CLIENT_ERROR unauthenticated\r\n";
            client.send(
                    "add k 0 0 13\r\n" + VALUE + "\r\nset k x 0 13\r\n" + VALUE + "\r\nms k 13\r\n" + VALUE + "\r\n");
            client.send("set any 0 0 12\r\nalice secret\r\n");
            String expected = line + line + line + "STORED\r\n";
            assertEquals(expected, client.read(expected.length()));
        }
    }
}
