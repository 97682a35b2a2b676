package org.softrdma.cli.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.Passwords;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine;

class ProtectionOptionsTest {
    private static final InetSocketAddress NOBODY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

    @TempDir
    private Path files = Path.of("");

    private final StringWriter err = new StringWriter();

    private static KvClientContext applied(Map<String, String> environment, String... arguments) {
        return CommandLine.populateCommand(new ProtectionOptions(), arguments)
                .environment(environment)
                .apply(new KvClientContext(NOBODY));
    }

    private static String refused(String... arguments) {
        return String.valueOf(assertThrows(RuntimeException.class, () -> applied(Map.of(), arguments))
                .getMessage());
    }

    private int kv(String... arguments) {
        return Main.commandLine()
                .setErr(new PrintWriter(err))
                .execute(Stream.concat(Stream.of("kv"), Stream.of(arguments)).toArray(String[]::new));
    }

    @Test
    void shouldTakeThePasswordFromTheEnvironment() {
        KvClientContext context = applied(Map.of(ProtectionOptions.PASSWORD_VARIABLE, "secret"), "--user", "alice");
        assertEquals("alice", Objects.requireNonNull(context.login()).user());
        assertNull(
                applied(Map.of(ProtectionOptions.PASSWORD_VARIABLE, "secret")).login());
    }

    @Test
    void shouldSayWhichOptionIsMissing() {
        assertEquals(
                "--user alice: expected the password in --password-file FILE or in the environment variable"
                        + " SOFTRDMA_PASSWORD",
                refused("--user", "alice"));
        assertEquals("--password-file f: expected --user, too", refused("--password-file", "f"));
        for (String option : List.of("--tls-ca", "--tls-cert", "--tls-key", "--tls-name")) {
            assertEquals(option + " x: expected --tls, too", refused(option, "x"));
        }
        assertEquals("--clear-reads: expected --tls, too", refused("--clear-reads"));
        assertEquals(
                "--tls: authorities /nowhere: there is no such file, or it may not be read",
                refused("--tls", "--tls-ca", "/nowhere"));
        assertTrue(
                refused("--user", "alice", "--password-file", "/nowhere")
                        .startsWith("--password-file /nowhere: cannot read the file"),
                "a file that is not there");
    }

    @Test
    void shouldLogIn() throws IOException {
        Path users = Files.writeString(files.resolve("users"), "alice:secret\n");
        Path right = Files.writeString(files.resolve("right"), "secret\nand more\n");
        Path wrong = Files.writeString(files.resolve("wrong"), "guess\n");
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                KvServer server = KvServer.start(
                        device,
                        new KvServerContext()
                                .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                                .threads(1)
                                .passwords(Passwords.read(users))
                                .conclude())) {
            String at = "127.0.0.1:" + server.memcachedAddress().getPort();
            assertEquals(
                    ExitCode.OK,
                    kv("set", "key", "value", "-s", at, "--user", "alice", "--password-file", right.toString()));
            assertEquals("", err.toString());
            assertEquals(
                    ExitCode.FAILED,
                    kv("get", "key", "-s", at, "--user", "alice", "--password-file", wrong.toString()));
            assertTrue(err.toString().contains(at + " refused the login of user alice"), err::toString);
            assertFalse(err.toString().contains("guess"), err::toString);
            assertEquals(ExitCode.FAILED, kv("get", "key", "-s", at));
            assertTrue(err.toString().contains("it requires a login (-Y)"), err::toString);
        }
    }
}
