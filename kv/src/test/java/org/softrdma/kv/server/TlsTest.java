package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.kv.server.BinaryClient.NO_EXTRAS;
import static org.softrdma.kv.server.BinaryClient.store;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.Certificate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.server.host.TlsSettings.ClientCertificates;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

/** The memcached port behind TLS, with certificates that sign themselves. */
class TlsTest {
    private static final int TIMEOUT_MS = 20_000;

    @TempDir
    private static Path shared;

    @TempDir
    private Path directory;

    private static TestCertificate ours;
    private static TestCertificate another;
    /** By name: an algorithm, and a number if there is more than one. */
    private static final Map<String, TestCertificate> BY_NAME = new HashMap<>();

    @BeforeAll
    static void certificates() throws Exception {
        ours = new TestCertificate(shared, "server");
        another = new TestCertificate(shared, "another");
        BY_NAME.putAll(Map.of("EC", ours, "EC2", another));
        for (String name : List.of("RSA", "RSA2", "RSASSA-PSS", "Ed25519", "ML-DSA")) {
            BY_NAME.put(name, new TestCertificate(shared, name));
        }
    }

    private static TestCertificate certificate(String name) {
        return Objects.requireNonNull(BY_NAME.get(name), name);
    }

    private static RunningServer start(TlsSettings tls) {
        return new RunningServer(context -> context.tls(tls));
    }

    private static RunningServer start() {
        return start(TlsSettings.of(ours.chain(), ours.key()));
    }

    private static SSLSocket connect(SSLContext context, InetSocketAddress address, String... protocols)
            throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket();
        if (protocols.length > 0) {
            socket.setEnabledProtocols(protocols);
        }
        socket.connect(address, TIMEOUT_MS);
        socket.setSoTimeout(TIMEOUT_MS);
        return socket;
    }

    private static String ask(Socket socket, String request) throws IOException {
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII)).readLine();
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldServeTextAndBinaryClients(PortSettings.Io io) throws Exception {
        SSLContext trusting = ours.clientOf(null);
        try (RunningServer running =
                new RunningServer(context -> context.io(io).tls(TlsSettings.of(ours.chain(), ours.key())))) {
            for (int length : new int[] {0, 1, 16_383, 16_384, 16_385, 100_000, 1_000_000}) {
                byte[] value = random(length);
                try (SSLSocket text = connect(trusting, running.address());
                        BinaryClient binary = new BinaryClient(connect(trusting, running.address()))) {
                    OutputStream out = text.getOutputStream();
                    out.write(("set k 0 0 " + length + "\r\n").getBytes(StandardCharsets.US_ASCII));
                    out.write(value);
                    out.write("\r\nget k\r\n".getBytes(StandardCharsets.US_ASCII));
                    byte[] expected = ("STORED\r\nVALUE k 0 " + length + "\r\n").getBytes(StandardCharsets.US_ASCII);
                    InputStream in = text.getInputStream();
                    assertArrayEquals(expected, in.readNBytes(expected.length));
                    assertArrayEquals(value, in.readNBytes(length), "length=" + length);
                    assertEquals("\r\nEND\r\n", new String(in.readNBytes(7), StandardCharsets.US_ASCII));
                    String found =
                            binary.ask(BinaryClient.GET, NO_EXTRAS, "k", "").value();
                    assertArrayEquals(value, BinaryClient.bytes(found));
                    assertEquals(
                            0,
                            binary.ask(BinaryClient.SET, store(0, 0), "b", found)
                                    .status());
                    assertEquals(
                            found,
                            binary.ask(BinaryClient.GET, NO_EXTRAS, "b", "").value());
                }
            }
        }
    }

    /** TLS 1.3 has half-closed connections: a close_notify that ends one direction, while TCP goes on. */
    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldAnswerAllOfAClientThatSendsNoMore(PortSettings.Io io) throws Exception {
        int gets = 50;
        byte[] value = random(100_000);
        try (RunningServer running =
                        new RunningServer(context -> context.io(io).tls(TlsSettings.of(ours.chain(), ours.key())));
                SSLSocket client = connect(ours.clientOf(null), running.address(), "TLSv1.3")) {
            OutputStream out = client.getOutputStream();
            out.write(("set k 0 0 " + value.length + " noreply\r\n").getBytes(StandardCharsets.US_ASCII));
            out.write(value);
            out.write(("\r\n" + "get k\r\n".repeat(gets)).getBytes(StandardCharsets.US_ASCII));
            client.shutdownOutput();
            int answer = ("VALUE k 0 " + value.length + "\r\n\r\nEND\r\n").length() + value.length;
            assertEquals(gets * answer, client.getInputStream().readAllBytes().length);
        }
    }

    /** Answers wait in the server, bounded, and all of them come in the end. */
    @Test
    void shouldWaitForAClientThatReadsLate() throws Exception {
        int length = 300_000;
        int gets = 400;
        byte[] value = random(length);
        try (RunningServer running = start();
                SSLSocket late = connect(ours.clientOf(null), running.address());
                BinaryClient other = new BinaryClient(connect(ours.clientOf(null), running.address()))) {
            other.ask(BinaryClient.SET, store(0, 0), "k", new String(value, StandardCharsets.ISO_8859_1));
            late.getOutputStream().write("get k\r\n".repeat(gets).getBytes(StandardCharsets.US_ASCII));
            assertEquals(0, other.ask(BinaryClient.NOOP, NO_EXTRAS, "", "").status());
            byte[] line = ("VALUE k 0 " + length + "\r\n").getBytes(StandardCharsets.US_ASCII);
            InputStream in = late.getInputStream();
            for (int i = 0; i < gets; i++) {
                assertArrayEquals(line, in.readNBytes(line.length), "answer " + i);
                assertArrayEquals(value, in.readNBytes(length), "answer " + i);
                assertEquals("\r\nEND\r\n", new String(in.readNBytes(7), StandardCharsets.US_ASCII));
            }
        }
    }

    @Test
    void shouldLetOurClientAskWhetherItNeedsTls() {
        try (RunningServer running = start()) {
            KvException failure =
                    assertThrows(KvException.class, () -> running.client().close());
            String message = String.valueOf(failure.getMessage());
            assertTrue(message.contains("does it require TLS (-Z: then KvClientContext.tls"), message);
        }
    }

    @Test
    void shouldCloseInOrderAndTellOneTooMany() throws Exception {
        SSLContext trusting = ours.clientOf(null);
        try (RunningServer running =
                new RunningServer(context -> context.maxConnections(1).tls(TlsSettings.of(ours.chain(), ours.key())))) {
            try (SSLSocket first = connect(trusting, running.address())) {
                assertEquals("VERSION test-1", ask(first, "version\r\n"));
                try (SSLSocket second = connect(trusting, running.address())) {
                    InputStream in = second.getInputStream();
                    byte[] all = in.readAllBytes();
                    assertEquals("ERROR Too many open connections\r\n", new String(all, StandardCharsets.US_ASCII));
                }
                first.getOutputStream().write("version\r\nquit\r\n".getBytes(StandardCharsets.US_ASCII));
                assertEquals(
                        "VERSION test-1\r\n",
                        new String(first.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
            }
        }
    }

    @Test
    void shouldRefuseAClientInTheClearAndCountIt() throws Exception {
        try (RunningServer running = start();
                RawMemcached clear = new RawMemcached(running.address());
                SSLSocket client = connect(ours.clientOf(null), running.address())) {
            clear.send("get k\r\nversion\r\n");
            while (!clear.isClosedByServer()) {
                // the alert of TLS comes first
            }
            OutputStream out = client.getOutputStream();
            out.write("stats\r\nstats settings\r\nstats conns\r\n".getBytes(StandardCharsets.US_ASCII));
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
            String all = "";
            for (int ends = 0; ends < 3; ) {
                String line = in.readLine();
                ends += line.equals("END") ? 1 : 0;
                all += line + "\n";
            }
            assertTrue(all.contains("STAT ssl_handshake_errors 1\n"), all);
            assertTrue(all.contains("STAT time_since_server_cert_refresh "), all);
            assertTrue(all.contains("STAT ssl_enabled yes\n"), all);
            assertTrue(all.contains("STAT ssl_chain_cert " + ours.chain() + "\n"), all);
        }
    }

    @Test
    void shouldLeaveTheAddressesInTheClearThatItIsTold() throws Exception {
        InetSocketAddress encrypted = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
        InetSocketAddress clear = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 0);
        try (RunningServer running = new RunningServer(context -> context.tls(TlsSettings.of(ours.chain(), ours.key()))
                        .memcachedAddresses(List.of(encrypted, clear))
                        .clearAddresses(Set.of(clear)));
                SSLSocket client = connect(ours.clientOf(null), running.address());
                RawMemcached other =
                        new RawMemcached(running.server().memcachedAddresses().getLast())) {
            assertEquals("VERSION test-1", ask(client, "version\r\n"));
            assertEquals("VERSION test-1\r\n", other.ask("version\r\n", "VERSION test-1\r\n"));
        }
    }

    @Test
    void shouldResumeSessionsIfItKeepsThem() throws Exception {
        try (RunningServer running =
                start(TlsSettings.of(ours.chain(), ours.key()).keepingSessions())) {
            SSLContext client = ours.clientOf(null);
            byte[] session;
            try (SSLSocket first = connect(client, running.address(), "TLSv1.2")) {
                assertEquals("VERSION test-1", ask(first, "version\r\n"));
                session = first.getSession().getId();
            }
            try (SSLSocket second = connect(client, running.address(), "TLSv1.2")) {
                assertEquals("VERSION test-1", ask(second, "version\r\n"));
                assertArrayEquals(session, second.getSession().getId());
                assertTrue(statistics(second).contains("STAT ssl_session_cache yes\n"));
            }
        }
    }

    private static String statistics(SSLSocket client) throws IOException {
        client.getOutputStream().write("stats settings\r\n".getBytes(StandardCharsets.US_ASCII));
        BufferedReader in =
                new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
        StringBuilder all = new StringBuilder();
        for (String line = in.readLine(); !"END".equals(line); line = in.readLine()) {
            all.append(line).append('\n');
        }
        return all.toString();
    }

    @Test
    void shouldAskClientsForCertificates() throws Exception {
        TlsSettings strict =
                new TlsSettings(ours.chain(), ours.key(), another.chain(), ClientCertificates.NEEDED, List.of(), false);
        try (RunningServer running = start(strict)) {
            try (SSLSocket known = connect(ours.clientOf(another), running.address())) {
                assertEquals("VERSION test-1", ask(known, "version\r\n"));
            }
            for (TestCertificate wrong : new TestCertificate[] {null, ours}) {
                try (SSLSocket unknown = connect(ours.clientOf(wrong), running.address())) {
                    assertThrows(IOException.class, () -> {
                        if (ask(unknown, "version\r\n") == null) {
                            throw new IOException("closed");
                        }
                    });
                }
            }
        }
    }

    @Test
    void shouldSpeakNothingOlderThanItIsTold() throws Exception {
        TlsSettings newest =
                new TlsSettings(ours.chain(), ours.key(), null, ClientCertificates.IGNORED, List.of(), true);
        try (RunningServer running = start(newest)) {
            try (SSLSocket old = connect(ours.clientOf(null), running.address(), "TLSv1.2")) {
                assertThrows(IOException.class, old::startHandshake);
            }
            try (SSLSocket client = connect(ours.clientOf(null), running.address())) {
                assertEquals("VERSION test-1", ask(client, "version\r\n"));
                assertEquals("TLSv1.3", client.getSession().getProtocol());
            }
        }
        TlsSettings oneCipher = new TlsSettings(
                ours.chain(),
                ours.key(),
                null,
                ClientCertificates.IGNORED,
                List.of("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
                false);
        try (RunningServer running = start(oneCipher);
                SSLSocket client = connect(ours.clientOf(null), running.address(), "TLSv1.2")) {
            assertEquals("VERSION test-1", ask(client, "version\r\n"));
            assertEquals(
                    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                    client.getSession().getCipherSuite());
        }
    }

    /** refresh_certs: what is new is for new connections, and files that are not good change nothing. */
    @Test
    void shouldReadItsCertificatesAgain() throws Exception {
        TestCertificate mine = new TestCertificate(directory, "mine");
        SSLContext trustingOld = mine.clientOf(null);
        Path chain = Files.copy(mine.chain(), directory.resolve("chain"));
        Certificate before = mine.certificate();
        try (RunningServer running = start(TlsSettings.of(mine.chain(), mine.key()));
                SSLSocket first = connect(trustingOld, running.address())) {
            assertEquals("VERSION test-1", ask(first, "version\r\n"));
            Files.writeString(mine.chain(), "nothing\n");
            assertEquals("SERVER_ERROR the certificates are not good, see the log", ask(first, "refresh_certs\r\n"));
            try (SSLSocket second = connect(trustingOld, running.address())) {
                assertEquals("VERSION test-1", ask(second, "version\r\n"));
            }
            Files.copy(another.key(), mine.key(), StandardCopyOption.REPLACE_EXISTING); // half of a new pair
            Files.copy(chain, mine.chain(), StandardCopyOption.REPLACE_EXISTING);
            assertEquals("SERVER_ERROR the certificates are not good, see the log", ask(first, "refresh_certs\r\n"));
            try (SSLSocket second = connect(trustingOld, running.address())) {
                assertEquals("VERSION test-1", ask(second, "version\r\n"));
            }
            another.replace(mine);
            assertEquals("OK", ask(first, "refresh_certs\r\n"));
            assertEquals(before, first.getSession().getPeerCertificates()[0]);
            try (SSLSocket third = connect(another.clientOf(null), running.address())) {
                assertEquals("VERSION test-1", ask(third, "version\r\n"));
            }
        }
        try (RunningServer clear = new RunningServer();
                RawMemcached client = new RawMemcached(clear.address())) {
            assertEquals("Error TLS not enabled\r\n", client.ask("refresh_certs\r\n", "Error TLS not enabled\r\n"));
        }
    }

    @ParameterizedTest
    @CsvSource({"EC, EC2", "RSA, RSA2", "EC, RSA", "RSA, Ed25519", "Ed25519, EC", "RSASSA-PSS, RSA"})
    void shouldRefuseAKeyThatIsNotTheCertificates(String certificate, String key) {
        TestCertificate one = certificate(certificate);
        TestCertificate two = certificate(key);
        requireFault(
                "ssl_key " + two.key() + " is not the key of ssl_chain_cert " + one.chain()
                        + ": expected the private key of its first certificate, of CN="
                        + (one == ours ? "server" : certificate),
                TlsSettings.of(one.chain(), two.key()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"EC", "RSA", "RSASSA-PSS", "Ed25519"})
    void shouldServeWithKeysOfAnyAlgorithm(String algorithm) throws Exception {
        TestCertificate mine = certificate(algorithm);
        try (RunningServer running = start(TlsSettings.of(mine.chain(), mine.key()));
                SSLSocket newest = connect(mine.clientOf(null), running.address(), "TLSv1.3");
                SSLSocket older = connect(mine.clientOf(null), running.address(), "TLSv1.2")) {
            assertEquals("VERSION test-1", ask(newest, "version\r\n"));
            assertEquals("VERSION test-1", ask(older, "version\r\n"));
        }
    }

    /** Keys that sign certificates but no handshakes, and cipher suites for another kind of key. */
    @Test
    void shouldRefuseToStartIfEveryHandshakeWouldFail() {
        TestCertificate unfit = certificate("ML-DSA");
        requireFault("every handshake would fail: ", TlsSettings.of(unfit.chain(), unfit.key()));
        requireFault(
                "every handshake would fail: ",
                new TlsSettings(
                        ours.chain(),
                        ours.key(),
                        null,
                        ClientCertificates.IGNORED,
                        List.of("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
                        false));
    }

    @Test
    void shouldSayWhichFileIsNotGood() throws IOException {
        Path nothing = directory.resolve("nothing");
        Path empty = Files.writeString(directory.resolve("empty"), "nothing\n");
        requireFault("ssl_chain_cert " + nothing, TlsSettings.of(nothing, ours.key()));
        requireFault("ssl_key " + nothing, TlsSettings.of(ours.chain(), nothing));
        requireFault(empty + ": expected a private key in PEM", TlsSettings.of(ours.chain(), empty));
        requireFault(empty.toString(), TlsSettings.of(empty, ours.key()));
        requireFault(
                "ssl_ca_cert " + empty,
                new TlsSettings(ours.chain(), ours.key(), empty, ClientCertificates.WANTED, List.of(), false));
        requireFault(
                "NO_SUCH_SUITE",
                new TlsSettings(
                        ours.chain(), ours.key(), null, ClientCertificates.IGNORED, List.of("NO_SUCH_SUITE"), false));
    }

    private static void requireFault(String expected, TlsSettings settings) {
        KvServerContext context = new KvServerContext()
                .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .tls(settings)
                .conclude();
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of())) {
            UncheckedIOException failure = assertThrows(
                    UncheckedIOException.class,
                    () -> KvServer.start(device, context).close());
            assertTrue(String.valueOf(failure.getMessage()).contains(expected), failure.getMessage());
        }
    }
}
