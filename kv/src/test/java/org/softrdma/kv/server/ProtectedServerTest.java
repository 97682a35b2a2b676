package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.kv.server.RawQueuePair.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.client.ClientLogin;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.MemcachedProcess;
import org.softrdma.kv.client.SharedKvClient;
import org.softrdma.kv.client.cluster.ClusterServer;
import org.softrdma.kv.client.cluster.KvCluster;
import org.softrdma.kv.client.cluster.KvClusterContext;
import org.softrdma.kv.client.network.ClientTls;
import org.softrdma.kv.client.network.SocketNetwork;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.server.host.TlsSettings.ClientCertificates;

/** Clients of servers that ask who they are, and of servers that speak TLS. */
class ProtectedServerTest {
    private static final byte[] KEY = bytes("key");
    private static final ClientLogin ALICE = new ClientLogin("alice", "secret");

    @TempDir
    private static Path shared;

    @TempDir
    private Path directory;

    private static TestCertificate ours;
    private static TestCertificate another;

    @BeforeAll
    static void certificates() throws Exception {
        ours = new TestCertificate(shared, "server");
        another = new TestCertificate(shared, "another");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private Passwords passwords(String lines) throws IOException {
        return Passwords.read(Files.writeString(directory.resolve("passwords"), lines));
    }

    private static ClientTls trusting(TestCertificate server) throws IOException {
        return ClientTls.of(server.chain(), null, null);
    }

    private static KvClient connect(RunningServer to, UnaryOperator<KvClientContext> settings) {
        return KvClient.connect(
                to.clientDevice(),
                settings.apply(new KvClientContext(to.address())).conclude());
    }

    private static String failure(RunningServer of, UnaryOperator<KvClientContext> settings) {
        KvException failure =
                assertThrows(KvException.class, () -> connect(of, settings).close());
        return String.valueOf(failure.getMessage());
    }

    /** A set, which tells where the item is, and two gets. */
    private static void assertReadTwice(KvClient client) {
        client.set(KEY, 0, 0, bytes("value"));
        for (int i = 0; i < 2; i++) {
            assertArrayEquals(bytes("value"), client.get(KEY).orElseThrow().value());
        }
    }

    // ---- logins

    @Test
    void shouldReadAfterALogin() throws IOException {
        Passwords users = passwords("bob:other\nalice:secret\n");
        try (RunningServer running = new RunningServer(context -> context.passwords(users));
                KvClient client = connect(running, context -> context.login(ALICE))) {
            assertReadTwice(client);
            assertEquals(KvProtocol.RDMA, client.protocol());
            assertEquals(2, client.counters().hits());
            assertEquals(1, running.server().counters().authentications.sum());
        }
    }

    @ParameterizedTest
    @CsvSource({"alice,wrong", "carol,secret", "alice,secretsecret"})
    void shouldSayThatALoginWasRefused(String user, String password) throws IOException {
        Passwords users = passwords("alice:secret\n");
        try (RunningServer running = new RunningServer(context -> context.passwords(users))) {
            String message = failure(running, context -> context.login(new ClientLogin(user, password)));
            assertTrue(
                    message.contains("127.0.0.1:" + running.address().getPort() + " refused the login of user " + user
                            + ": 'CLIENT_ERROR authentication failure'"),
                    message);
            assertFalse(message.contains(password), message);
            assertEquals(0, running.deviceCounter("connectionsEstablished"));
        }
    }

    /** A server without users would store the password as a value. */
    @Test
    void shouldTellNoPasswordToAServerThatDoesNotAsk() {
        try (RunningServer running = new RunningServer();
                KvClient client = connect(running, context -> context.login(ALICE))) {
            assertReadTwice(client);
            assertEquals(2, client.counters().hits());
            assertTrue(client.get(bytes("login")).isEmpty());
        }
    }

    /** Who is in stays in, with its queue pair; who comes again needs the new password. */
    @Test
    void shouldStayInWhenUsersAreReadAgain() throws IOException {
        Passwords users = passwords("alice:secret\n");
        try (RunningServer running = new RunningServer(context -> context.passwords(users))) {
            try (KvClient client = connect(running, context -> context.login(ALICE))) {
                users.become(passwords("alice:new\n"));
                assertReadTwice(client);
                assertEquals(2, client.counters().hits());
            }
            assertTrue(failure(running, context -> context.login(ALICE)).contains("refused the login"));
            connect(running, context -> context.login(new ClientLogin("alice", "new")))
                    .close();
        }
    }

    @Test
    void shouldLoseTheQueuePairWithTheConnectionThatLoggedIn() throws IOException {
        Passwords users = passwords("alice:secret\n");
        try (RunningServer running = new RunningServer(context -> context.passwords(users))) {
            try (KvClient client = connect(running, context -> context.login(ALICE))) {
                assertReadTwice(client);
                assertEquals(1, running.server().rdmaCounters().boundQueuePairs.get());
            }
            await(() -> running.server().rdmaCounters().boundQueuePairs.get() == 0);
        }
    }

    @Test
    void shouldLogInManyThreadsAndManyServers() throws Exception {
        Passwords users = passwords("alice:secret\n");
        try (RunningServer running = new RunningServer(context -> context.passwords(users));
                RunningServer other = new RunningServer(context -> context.passwords(users))) {
            KvClientContext context = new KvClientContext(running.address()).login(ALICE);
            try (SharedKvClient client = SharedKvClient.connect(running.clientDevice(), context.conclude())) {
                client.set(KEY, 0, 0, bytes("value"));
                assertArrayEquals(bytes("value"), client.get(KEY).orElseThrow().value());
            }
            List<ClusterServer> servers = List.of(
                    ClusterServer.parse("127.0.0.1:" + running.address().getPort()),
                    ClusterServer.parse("127.0.0.1:" + other.address().getPort()));
            KvClusterContext both = new KvClusterContext(servers).withSettings(each -> each.login(ALICE));
            try (KvCluster cluster = KvCluster.connect(running.clientDevice(), both)) {
                for (int i = 0; i < 20; i++) {
                    cluster.set(bytes("key" + i), 0, 0, bytes("value" + i));
                    KvItem item = cluster.get(bytes("key" + i)).orElseThrow();
                    assertArrayEquals(bytes("value" + i), item.value());
                }
            }
            assertEquals(1, other.server().counters().authentications.sum());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a:b", "a\r", "a\n"})
    void shouldRefuseUsersThatNoServerKnows(String user) {
        String message =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> new ClientLogin(user, "secret"))
                        .getMessage());
        assertFalse(message.contains("secret"), message);
        assertThrows(IllegalArgumentException.class, () -> new ClientLogin("alice", "secret\r\nflush_all"));
        assertThrows(IllegalArgumentException.class, () -> new ClientLogin("alice", "x".repeat(1019)));
        assertFalse(ALICE.toString().contains("secret"));
    }

    // ---- TLS

    private static RunningServer encrypted() {
        return new RunningServer(context -> context.tls(TlsSettings.of(ours.chain(), ours.key())));
    }

    @Test
    void shouldSpeakTls() throws IOException {
        try (RunningServer running = encrypted();
                KvClient client = connect(running, tls(trusting(ours)))) {
            for (int length : new int[] {0, 1, 16_383, 16_384, 65_536, 1_000_000}) {
                client.set(KEY, 0, 0, random(length));
                assertArrayEquals(random(length), client.get(KEY).orElseThrow().value(), "length=" + length);
            }
            assertEquals(KvProtocol.PLAIN, client.protocol());
            assertTrue(client.plainReason().contains("READs are not encrypted"), client.plainReason());
            assertEquals(0, running.deviceCounter("connectionsEstablished"), "nothing goes in the clear unasked");
        }
    }

    /** More than any socket has room for, both ways at once. */
    @Test
    void shouldWaitForRoom() throws Exception {
        try (RunningServer running = encrypted();
                SharedKvClient client = SharedKvClient.connect(new KvClientContext(running.address())
                        .tls(trusting(ours))
                        .requestTimeoutNs(TimeUnit.MINUTES.toNanos(2))
                        .conclude())) {
            byte[] value = random(900_000);
            List<CompletableFuture<?>> all = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                int number = i;
                all.add(CompletableFuture.runAsync(() -> {
                    byte[] key = bytes("key" + number % 4);
                    client.set(key, 0, 0, value);
                    client.get(key).ifPresent(item -> assertArrayEquals(value, item.value()));
                }));
            }
            for (CompletableFuture<?> each : all) {
                each.get(2, TimeUnit.MINUTES);
            }
        }
    }

    private static UnaryOperator<KvClientContext> tls(ClientTls tls) {
        return context -> context.tls(tls);
    }

    @Test
    void shouldReadInTheClearIfAllowed() throws IOException {
        Passwords users = passwords("alice:secret\n");
        try (RunningServer running = new RunningServer(
                        context -> context.passwords(users).tls(TlsSettings.of(ours.chain(), ours.key())));
                KvClient client = connect(
                        running,
                        context -> context.tls(trusting()).clearReads(true).login(ALICE))) {
            assertReadTwice(client);
            assertEquals(KvProtocol.RDMA, client.protocol());
            assertEquals(2, client.counters().hits());
        }
    }

    private static ClientTls trusting() {
        try {
            return trusting(ours);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldSayWhyACertificateIsNotGood() throws Exception {
        try (RunningServer running = encrypted()) {
            String unknown = failure(running, tls(trusting(another)));
            assertTrue(unknown.contains("nobody whom this client trusts has signed the server's certificate"), unknown);
            String jdk = failure(running, tls(ClientTls.ofJdk()));
            assertTrue(jdk.contains("nobody whom this client trusts"), jdk);
            assertTrue(jdk.contains("--tls-ca of kv"), jdk);
            String name = failure(running, tls(trusting(ours).named("cache.example")));
            assertTrue(name.contains("the server's certificate is for another name"), name);
            assertTrue(name.contains("cache.example"), name);
            assertTrue(name.contains("--tls-name of kv"), name);
            await(() -> running.server().counters().currentConnections.get() == 0);
        }
        TestCertificate expired = new TestCertificate(directory, "expired");
        expectExpired(expired, expired);
        expectExpired(new TestCertificate(directory, "late"), new TestCertificate(directory, "authority"));
    }

    private void expectExpired(TestCertificate own, TestCertificate trusted) throws Exception {
        try (RunningServer running =
                new RunningServer(context -> context.tls(TlsSettings.of(own.chain(), own.key())))) {
            String message = failure(running, tls(trusting(trusted)));
            assertTrue(message.contains("the server's certificate has expired"), message);
        }
    }

    @Test
    void shouldShowACertificateIfAsked() throws Exception {
        TlsSettings strict =
                new TlsSettings(ours.chain(), ours.key(), another.chain(), ClientCertificates.NEEDED, List.of(), false);
        try (RunningServer running = new RunningServer(context -> context.tls(strict))) {
            ClientTls known = ClientTls.of(ours.chain(), another.chain(), another.key());
            try (KvClient client = connect(running, tls(known))) {
                assertReadTwice(client);
            }
            // By TLS 1.3 a server judges when the client has ended its handshake.
            KvException refused = assertThrows(KvException.class, () -> {
                try (KvClient client = connect(running, tls(trusting(ours)))) {
                    client.get(KEY);
                }
            });
            String none = String.valueOf(refused.getMessage());
            assertTrue(none.contains("the server wants a certificate of this client"), none);
        }
        Path both = Files.writeString(
                directory.resolve("both"), Files.readString(another.chain()) + Files.readString(another.key()));
        ClientTls.of(null, both, null);
        assertThrows(IOException.class, () -> ClientTls.of(null, null, another.key()));
        String wrong =
                String.valueOf(assertThrows(IOException.class, () -> ClientTls.of(null, ours.chain(), another.key()))
                        .getMessage());
        assertTrue(wrong.contains(another.key() + " is not the key of"), wrong);
        Path missing = directory.resolve("missing");
        String absent = String.valueOf(assertThrows(IOException.class, () -> ClientTls.of(missing, null, null))
                .getMessage());
        assertTrue(absent.contains(missing + ": there is no such file"), absent);
    }

    /** A port in the clear, and one that hangs up. */
    @Test
    void shouldSayThatAPortSpeaksNoTls() throws Exception {
        try (RunningServer clear = new RunningServer()) {
            String message = failure(clear, tls(trusting(ours)));
            assertTrue(message.contains("TLS"), message);
        }
        try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> hangsUp = CompletableFuture.runAsync(() -> {
                try (Socket client = port.accept()) {
                    client.getInputStream().readNBytes(5);
                    client.shutdownOutput();
                    client.getInputStream().readAllBytes();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port.getLocalPort());
            KvException failure = assertThrows(
                    KvException.class,
                    () -> KvClient.connect(new KvClientContext(address)
                                    .tls(trusting(ours))
                                    .conclude())
                            .close());
            String message = String.valueOf(failure.getMessage());
            assertTrue(message.contains("closed the connection during the TLS handshake"), message);
            hangsUp.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldRefuseSettingsThatContradictEachOther() throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        ClientTls tls = trusting(ours);
        String both = refused(new KvClientContext(address).tls(tls).network(SocketNetwork::new));
        assertTrue(both.contains("tls and network"), both);
        String read = refused(new KvClientContext(address).tls(tls).protocol(KvProtocol.RDMA));
        assertTrue(read.contains("READs are not encrypted"), read);
        new KvClientContext(address)
                .tls(tls)
                .protocol(KvProtocol.RDMA)
                .clearReads(true)
                .conclude();
    }

    private static String refused(KvClientContext context) {
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, context::conclude).getMessage());
    }

    // ---- memcached itself

    @Test
    void shouldLogInAtMemcachedByTls() throws Exception {
        passwords("alice:secret\n");
        try (MemcachedProcess stock = new MemcachedProcess(
                "-Y",
                directory.resolve("passwords").toString(),
                "-Z",
                "-o",
                "ssl_chain_cert=" + ours.chain() + ",ssl_key=" + ours.key())) {
            InetSocketAddress address = new InetSocketAddress(
                    InetAddress.ofLiteral("127.0.0.1"), stock.address().getPort()); // which the certificate names
            KvClientContext context = new KvClientContext(address).login(ALICE).tls(trusting(ours));
            try (KvClient client = KvClient.connect(context.conclude())) {
                assertReadTwice(client);
            }
            KvException wrong = assertThrows(
                    KvException.class,
                    () -> KvClient.connect(new KvClientContext(address)
                                    .login(new ClientLogin("alice", "wrong"))
                                    .tls(trusting(ours))
                                    .conclude())
                            .close());
            String message = String.valueOf(wrong.getMessage());
            assertTrue(message.contains("refused the login of user alice"), message);
        }
    }
}
