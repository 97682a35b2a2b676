package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.kv.server.BinaryClient.NO_EXTRAS;
import static org.softrdma.kv.server.BinaryClient.store;
import static org.softrdma.kv.server.BinaryClient.word;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.server.session.ClientRules;

/** Login by SASL PLAIN with the passwords of -Y. */
class SaslTest {
    private static final String REFUSED = "Auth failure.";

    @TempDir
    private Path directory;

    private Passwords passwords;
    private RunningServer running;

    @BeforeEach
    void start() throws IOException {
        Path file = directory.resolve("passwords");
        Files.writeString(file, "alice:secret\nbob@realm:pass:word\n");
        passwords = Passwords.read(file);
        running = new RunningServer(context -> context.passwords(passwords).sasl(true));
    }

    @AfterEach
    void stop() {
        running.close();
    }

    private BinaryClient connect() throws IOException {
        return new BinaryClient(running.address());
    }

    private static String login(BinaryClient client, int opcode, String mechanism, String message) throws IOException {
        return client.ask(opcode, NO_EXTRAS, mechanism, message).toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"\0alice\0secret", "alice\0alice\0secret", "\0bob@realm\0pass:word"})
    void shouldLetUsersIn(String message) throws IOException {
        try (BinaryClient client = connect()) {
            assertEquals("20 0000 #0 - () : PLAIN", login(client, BinaryClient.SASL_LIST, "", ""));
            assertEquals("21 0000 #0 - () : Authenticated", login(client, BinaryClient.SASL_AUTH, "PLAIN", message));
            assertEquals(0, client.ask(BinaryClient.SET, store(0, 0), "k", "v").status());
            assertEquals("v", client.ask(BinaryClient.GET, NO_EXTRAS, "k", "").value());
        }
    }

    /** A client that chooses the mechanism first is asked for its message. */
    @Test
    void shouldLetUsersInWithTheSecondMessage() throws IOException {
        try (BinaryClient client = connect()) {
            assertEquals("21 0021 #0 - () : ", login(client, BinaryClient.SASL_AUTH, "PLAIN", ""));
            assertEquals(
                    "22 0000 #0 - () : Authenticated",
                    login(client, BinaryClient.SASL_STEP, "PLAIN", "\0alice\0secret"));
            assertEquals(0, client.ask(BinaryClient.NOOP, NO_EXTRAS, "", "").status());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\0alice\0wrong",
                "\0alice\0secretx",
                "\0alice\0",
                "\0mallory\0secret",
                "mallory\0alice\0secret",
                "alice\0secret",
                "\0alice secret\0",
                "\0\0alice secret",
                "alice secret",
                "\0",
                "\0\0",
                "\0alice\0secret\0",
                "x"
            })
    void shouldRefuseEverythingElse(String message) throws IOException {
        try (BinaryClient client = connect()) {
            assertEquals("21 0020 #0 - () : " + REFUSED, login(client, BinaryClient.SASL_AUTH, "PLAIN", message));
            assertEquals(
                    "21 0000 #0 - () : Authenticated",
                    login(client, BinaryClient.SASL_AUTH, "PLAIN", "\0alice\0secret"));
            // and whoever is in, is out again after a login that fails
            assertEquals("21 0020 #0 - () : " + REFUSED, login(client, BinaryClient.SASL_AUTH, "PLAIN", message));
            assertEquals(
                    "00 0020 #0 - () : " + REFUSED,
                    client.ask(BinaryClient.GET, NO_EXTRAS, "k", "").toString());
            assertTrue(client.isClosedByServer());
        }
    }

    @Test
    void shouldRefuseOtherMechanismsAndStepsOutOfOrder() throws IOException {
        try (BinaryClient client = connect()) {
            assertEquals(
                    0x20,
                    client.ask(BinaryClient.SASL_AUTH, NO_EXTRAS, "CRAM-MD5", "")
                            .status());
            assertEquals(
                    0x20,
                    client.ask(BinaryClient.SASL_AUTH, NO_EXTRAS, "plain", "\0alice\0secret")
                            .status());
            assertEquals(
                    4,
                    client.ask(BinaryClient.SASL_AUTH, NO_EXTRAS, "X".repeat(40), "\0alice\0secret")
                            .status());
            assertEquals(
                    0x20,
                    client.ask(BinaryClient.SASL_STEP, NO_EXTRAS, "PLAIN", "\0alice\0secret")
                            .status());
            assertEquals(
                    0x20,
                    client.ask(BinaryClient.SASL_AUTH, NO_EXTRAS, "PLAIN", "\0alice\0" + "x".repeat(100_000))
                            .status());
            assertEquals(0, client.ask(BinaryClient.VERSION, NO_EXTRAS, "", "").status());
        }
        try (RawMemcached text = new RawMemcached(running.address())) {
            text.ask("set any 0 0 12\r\nalice secret\r\n", "STORED\r\n");
            text.send("stats\r\n");
            String all = "";
            for (String line = text.readLine(); !line.equals("END"); line = text.readLine()) {
                all += line + "\n";
            }
            assertTrue(all.contains("STAT auth_cmds 5\n"), all);
            assertTrue(all.contains("STAT auth_errors 4\n"), all);
        }
    }

    /** Every opcode that there is, and those that there are not. */
    @Test
    void shouldDoNothingBeforeLogin() throws IOException {
        for (int opcode = 0; opcode < 256; opcode++) {
            if (opcode == BinaryClient.VERSION
                    || (opcode >= BinaryClient.SASL_LIST && opcode <= BinaryClient.SASL_STEP)) {
                continue;
            }
            try (BinaryClient client = connect()) {
                client.send(opcode, opcode == BinaryClient.FLUSH ? word(0) : NO_EXTRAS, "k", "");
                assertEquals(
                        "%02x 0020 #0 - () : %s".formatted(opcode, REFUSED),
                        client.read().toString());
                assertTrue(client.isClosedByServer());
            }
        }
    }

    @Test
    void shouldLetTextClientsInByTheirLoginOnly() throws IOException {
        try (RawMemcached text = new RawMemcached(running.address())) {
            assertEquals("CLIENT_ERROR unauthenticated\r\n", text.ask("get k\r\n", "CLIENT_ERROR unauthenticated\r\n"));
            assertEquals("STORED\r\n", text.ask("set any 0 0 12\r\nalice secret\r\n", "STORED\r\n"));
            assertEquals("END\r\n", text.ask("get k\r\n", "END\r\n"));
        }
    }

    /** Without -S, -Y leaves the text protocol only, as with memcached. */
    @Test
    void shouldRefuseBinaryClientsWithPasswordsButWithoutSasl() throws IOException {
        try (RunningServer server = new RunningServer(context -> context.passwords(passwords));
                BinaryClient client = new BinaryClient(server.address())) {
            assertEquals(
                    0x83,
                    client.ask(BinaryClient.SASL_AUTH, NO_EXTRAS, "PLAIN", "\0alice\0secret")
                            .status());
            assertTrue(client.isClosedByServer());
        }
    }

    @Test
    void shouldRefuseSettingsThatContradictEachOther() {
        requireFault("passwords (-Y)", context -> context.sasl(true));
        requireFault(
                "with sasl (-S)",
                context -> context.passwords(passwords).sasl(true).protocol(ClientRules.Protocol.ASCII));
        requireFault(
                "expected sasl (-S)", context -> context.passwords(passwords).protocol(ClientRules.Protocol.BINARY));
    }

    private static void requireFault(String expected, UnaryOperator<KvServerContext> settings) {
        KvServerContext context = settings.apply(new KvServerContext());
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, context::conclude).getMessage());
        assertTrue(message.contains(expected), message);
    }
}
