package org.softrdma.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.VerbsDevice;
import picocli.CommandLine;

class KvCommandTest {
    private final VerbsDevice device = new SoftRdmaProvider().open(Map.of());
    private final KvServer server = KvServer.start(
            device,
            new KvServerContext()
                    .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .threads(1)
                    .version("test")
                    .conclude());
    private final StringWriter err = new StringWriter();

    @AfterEach
    void stop() {
        server.close();
        device.close();
    }

    @Test
    void shouldSetGetAndDelete() {
        assertEquals(Main.EXIT_OK, kv("set", "key", "value"));
        assertEquals("value", output(() -> assertEquals(Main.EXIT_OK, kv("get", "key"))));
        assertEquals(Main.EXIT_OK, kv("delete", "key"));
        assertEquals(Main.EXIT_FAILED, kv("delete", "key"));
        assertEquals("key: not found", err.toString().strip());
        assertEquals("", output(() -> assertEquals(Main.EXIT_FAILED, kv("get", "key"))));
    }

    @Test
    void shouldSayWhenServerCannotTakeValue() {
        assertEquals(Main.EXIT_FAILED, kv("set", "key", "v".repeat(1 << 20)));
        assertTrue(err.toString().contains("larger than the server takes"), err::toString);
    }

    @Test
    void shouldSayWhenKeyIsBad() {
        assertEquals(Main.EXIT_USAGE, kv("get", "k".repeat(251)));
        assertTrue(err.toString().contains("key of 251 bytes"), err::toString);
    }

    @Test
    void shouldSayWhenThereIsNoServer() {
        assertEquals(Main.EXIT_FAILED, execute("kv", "get", "key", "--server", "127.0.0.1:1"));
        assertTrue(err.toString().startsWith("softrdma kv get: cannot connect to 127.0.0.1:1"), err::toString);
        assertEquals(Main.EXIT_USAGE, execute("kv", "get", "key", "--server", "127.0.0.1:x"));
        assertEquals(Main.EXIT_USAGE, execute("kv", "get", "key", "--server", "no such host"));
    }

    @Test
    void shouldNameEveryBadSettingOfServer() {
        assertEquals(Main.EXIT_USAGE, execute("server", "-t", "0", "-I", "100", "-m", "0"));
        assertTrue(err.toString().contains("-t 0: expected 1 to 1024"), err::toString);
        assertTrue(err.toString().contains("-I 100: expected 1k to 15m"), err::toString);
        assertTrue(err.toString().contains("-m 0: expected 2 to "), err::toString);
    }

    @Test
    void shouldSayWhenPortOfServerIsTaken() {
        String port = Integer.toString(server.memcachedAddress().getPort());
        assertEquals(Main.EXIT_USAGE, execute("server", "-l", "127.0.0.1", "-p", port));
        assertTrue(
                err.toString().contains("cannot listen on 127.0.0.1:" + port + ": the port is in use"), err::toString);
    }

    private int kv(String... arguments) {
        List<String> all = new ArrayList<>(List.of("kv"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--server", "127.0.0.1:" + server.memcachedAddress().getPort()));
        return execute(all.toArray(String[]::new));
    }

    private int execute(String... arguments) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(err, true));
        return commandLine.execute(arguments);
    }

    /** What is written to the standard output meanwhile. */
    private static String output(Runnable work) {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
