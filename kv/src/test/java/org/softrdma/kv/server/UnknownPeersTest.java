package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.kv.server.RawQueuePair.ITEMS;
import static org.softrdma.kv.server.RawQueuePair.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.Refusal;
import org.softrdma.kv.server.rdma.Strangers;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/** No queue pair of a peer that the server does not know, and none that outlives what made it known. */
class UnknownPeersTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    private Path directory = Path.of("");

    @Test
    void shouldRejectConnectWithoutAKnownTokenBeforeThereIsAQueuePair() {
        byte[] old = HelloDescriptor.privateData("00".repeat(HelloDescriptor.TOKEN_LENGTH));
        old[4] = 1;
        try (RunningServer running = new RunningServer()) {
            assertRefused(running, new byte[0], Refusal.NO_TOKEN);
            assertRefused(running, "please".getBytes(StandardCharsets.US_ASCII), Refusal.NO_TOKEN);
            assertRefused(running, old, Refusal.NO_TOKEN);
            assertRefused(
                    running, HelloDescriptor.privateData("00".repeat(HelloDescriptor.TOKEN_LENGTH)), Refusal.BAD_TOKEN);
            assertEquals(0, running.deviceCounter("connectionsEstablished"));
            assertEquals(4, running.server().rdmaCounters().rejectedQueuePairs.sum());
        }
    }

    @Test
    void shouldTakeATokenOnce() throws IOException {
        try (RunningServer running = new RunningServer();
                RawMemcached tcp = new RawMemcached(running.address())) {
            String token = RawQueuePair.token(tcp);
            try (RawQueuePair owner = RawQueuePair.showing(token, running, 2)) {
                owner.hello(token);
                owner.answer();
                assertRefused(running, HelloDescriptor.privateData(token), Refusal.BAD_TOKEN);
                assertEquals(
                        QueuePairState.READY_TO_SEND, owner.queuePair.state(), "the thief costs the owner nothing");
            }
        }
    }

    @Test
    void shouldKnowTheLastTokenOfAConnectionOnly() throws IOException {
        try (RunningServer running = new RunningServer();
                RawMemcached tcp = new RawMemcached(running.address())) {
            String first = RawQueuePair.token(tcp);
            String second = RawQueuePair.token(tcp);
            assertRefused(running, HelloDescriptor.privateData(first), Refusal.BAD_TOKEN);
            RawQueuePair.showing(second, running, 2).close();
        }
    }

    @Test
    void shouldForgetATokenWithItsMemcachedConnection() throws IOException {
        try (RunningServer running = new RunningServer(context -> context.threads(1))) {
            String token;
            try (RawMemcached tcp = new RawMemcached(running.address())) {
                token = RawQueuePair.token(tcp);
            }
            awaitRelease(running);
            assertRefused(running, HelloDescriptor.privateData(token), Refusal.BAD_TOKEN);
        }
    }

    /** Until a server with one thread has given back what its only connection held. */
    private static void awaitRelease(RunningServer running) {
        await(() -> running.server().counters().currentConnections.get() == 0);
        try (RawMemcached probe = new RawMemcached(running.address())) {
            assertEquals("MN\r\n", probe.ask("mn\r\n", "MN\r\n"), "the thread does something else by now");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldForgetATokenThatIsTooOld() throws IOException {
        long lifeNs = TimeUnit.MILLISECONDS.toNanos(1);
        try (RunningServer running = new RunningServer(
                        context -> context.timeouts(timeouts -> timeouts.withHelloTimeoutNs(lifeNs)));
                RawMemcached tcp = new RawMemcached(running.address())) {
            String token = RawQueuePair.token(tcp);
            long givenNs = System.nanoTime();
            await(() -> System.nanoTime() - givenNs > lifeNs);
            assertRefused(running, HelloDescriptor.privateData(token), Refusal.BAD_TOKEN);
        }
    }

    @Test
    void shouldEndQueuePairThatConnectsAndSaysNoHello() throws IOException {
        try (RunningServer running = new RunningServer(context ->
                        context.timeouts(timeouts -> timeouts.withHelloTimeoutNs(TimeUnit.SECONDS.toNanos(3))));
                RawMemcached tcp = new RawMemcached(running.address())) {
            String token = RawQueuePair.token(tcp);
            try (RawQueuePair silent = RawQueuePair.showing(token, running, 2)) {
                // No message, but for a READ of nothing, which lets a server go on that waits for its peer's first
                // word.
                silent.read(0, 0, 0);
                silent.awaitEnd();
            }
        }
    }

    /** An rkey that was known once. */
    @ParameterizedTest
    @EnumSource
    void shouldReadNothingOnceTheMemcachedConnectionIsGone(ItemSettings.Registration registration) throws IOException {
        try (RunningServer running =
                        new RunningServer(context -> context.items(items -> items.registration(registration)));
                RawMemcached other = new RawMemcached(running.address())) {
            RawMemcached tcp = new RawMemcached(running.address());
            try (RawQueuePair raw = RawQueuePair.bound(tcp, running, 4)) {
                tcp.send("set key 0 0 6\r\nsecret\r\n");
                Locator locator = Locator.ofHex(tcp.readLine().substring("STORED ".length()));
                assertEquals(CompletionStatus.SUCCESS, raw.read(locator.rkey(), locator.offset(), locator.length()));
                assertEquals("keysecret", text(raw, 56, 9));
                tcp.close();
                raw.awaitEnd();
                long served = running.deviceCounter("responderReads");
                assertEquals(CompletionStatus.FLUSHED, raw.read(locator.rkey(), locator.offset(), locator.length()));
                assertRefused(running, new byte[0], Refusal.NO_TOKEN);
                assertEquals(served, running.deviceCounter("responderReads"));
                assertEquals("VERSION test-1\r\n", other.ask("version\r\n", "VERSION test-1\r\n"));
            } finally {
                tcp.close();
            }
            await(() -> running.server().rdmaCounters().boundQueuePairs.get() == 0);
        }
    }

    private static String text(RawQueuePair raw, int from, int length) {
        byte[] bytes =
                raw.region.memory().asSlice(ITEMS + from, length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    /** When a memcached connection dies, seen by the thread that makes its queue pair. */
    enum Death {
        BEFORE_THE_QUEUE_PAIR,
        BEFORE_ACCEPT
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndQueuePairThatIsBeingMadeWhenItsMemcachedConnectionDies(Death when) throws IOException {
        AtomicReference<Runnable> death = new AtomicReference<>(() -> {});
        String method = when == Death.BEFORE_ACCEPT ? "accept" : "createQueuePair";
        try (RunningServer running = new RunningServer(
                context -> context.threads(1),
                Map.of(),
                device -> Changed.listening(
                        device,
                        (listener, arguments) ->
                                listener.next((long) arguments[0]).map(request -> dying(request, method, death))))) {
            RawMemcached tcp = new RawMemcached(running.address());
            death.set(() -> {
                try {
                    tcp.close();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
                awaitRelease(running);
            });
            String token = RawQueuePair.token(tcp);
            try (RawQueuePair raw = RawQueuePair.showing(token, running, 2)) {
                raw.hello(token);
                raw.awaitEnd(); // long before the time for a hello is over
            } catch (VerbsException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("127.0.0.1"), e::toString); // it never came to be
            }
            await(() -> running.server().rdmaCounters().rejectedQueuePairs.sum() == 1);
            assertEquals(0, running.server().rdmaCounters().boundQueuePairs.get());
        }
    }

    /** The first is being made for so long that its connection has another token by then, and no queue pair to end. */
    @Test
    void shouldKeepOneQueuePairOfAMemcachedConnection() throws Exception {
        AtomicInteger made = new AtomicInteger();
        CountDownLatch secondIsAskedFor = new CountDownLatch(1);
        try (RunningServer running = new RunningServer(
                        context -> context.timeouts(timeouts -> timeouts.withHelloTimeoutNs(TimeUnit.HOURS.toNanos(1))),
                        Map.of(),
                        device -> Changed.listening(
                                device,
                                (listener, arguments) -> listener.next((long) arguments[0])
                                        .map(request -> dying(request, "createQueuePair", new AtomicReference<>(() -> {
                                            if (made.getAndIncrement() == 0) {
                                                awaitUninterrupted(secondIsAskedFor);
                                            }
                                        })))));
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            RawMemcached tcp = new RawMemcached(running.address());
            String token = RawQueuePair.token(tcp);
            Future<RawQueuePair> first = other.submit(() -> RawQueuePair.showing(token, running, 2));
            await(() -> made.get() == 1);
            String another = RawQueuePair.token(tcp);
            secondIsAskedFor.countDown();
            try (RawQueuePair early = first.get();
                    RawQueuePair late = RawQueuePair.showing(another, running, 2)) {
                early.awaitEnd();
                tcp.close();
                late.awaitEnd();
            } finally {
                tcp.close();
            }
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            assertTrue(latch.await(RawQueuePair.TIMEOUT_NS, TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ConnectionRequest dying(ConnectionRequest request, String method, AtomicReference<Runnable> death) {
        return Changed.with(ConnectionRequest.class, request, method, (original, arguments) -> {
            Objects.requireNonNull(death.get()).run();
            if (method.equals("accept")) {
                original.accept((ConnectionParameters) arguments[0]);
                return Optional.empty();
            }
            return original.createQueuePair(
                    (org.softrdma.verbs.ProtectionDomain) arguments[0],
                    (org.softrdma.verbs.QueuePairAttributes) arguments[1]);
        });
    }

    @Test
    void shouldLetInWhoIsKnownWhateverStrangersDo() {
        try (RunningServer running = new RunningServer(context -> context.maxConnections(2))) {
            for (int i = 0; i < 20; i++) {
                assertRefused(running, new byte[0], Refusal.NO_TOKEN);
            }
            assertServes(running, running.clientDevice());
        }
    }

    @Test
    void shouldServeClientsOfDeviceWithoutPrivateDataByTheirFirstMessage() {
        try (RunningServer running = new RunningServer(
                context -> context.timeouts(timeouts -> timeouts.withHelloTimeoutNs(TimeUnit.MINUTES.toNanos(10))),
                Map.of(),
                Changed::withoutPrivateData)) {
            assertServes(running, running.clientDevice());
            assertServes(running, Changed.withoutPrivateData(running.clientDevice()));
        }
    }

    @Test
    void shouldKeepStrangersFewAndApartWhereTheyCannotBeToldAtOnce() {
        try (RunningServer running = new RunningServer(
                        context -> context.maxConnections(2)
                                .timeouts(timeouts -> timeouts.withHelloTimeoutNs(TimeUnit.MINUTES.toNanos(10))),
                        Map.of(),
                        Changed::withoutPrivateData);
                CloseStack strangers = new CloseStack()) {
            for (int i = 0; i < Strangers.MOST_OF_ADDRESS - 1; i++) {
                strangers.add(stranger(running));
            }
            assertServes(running, running.clientDevice()); // in a place of its own
            strangers.add(stranger(running));
            assertThrows(VerbsException.class, () -> stranger(running), "more than one address may have");
        }
    }

    @Test
    void shouldEndStrangersThatDoNotSayWhoTheyAre() {
        long helloTimeoutNs = TimeUnit.SECONDS.toNanos(2);
        try (RunningServer running = new RunningServer(
                        context -> context.maxConnections(2)
                                .timeouts(timeouts -> timeouts.withHelloTimeoutNs(helloTimeoutNs)),
                        Map.of(),
                        Changed::withoutPrivateData);
                CloseStack strangers = new CloseStack()) {
            RawQueuePair silent = strangers.add(stranger(running));
            silent.awaitEnd();
            await(() -> running.server().rdmaCounters().rejectedQueuePairs.sum() == 1);
        }
    }

    @Test
    void shouldRefuseToAskForPasswordsWhereStrangersCanRead() throws IOException {
        Path file = Files.writeString(directory.resolve("users"), "foo:bar\n");
        Passwords passwords = Passwords.read(file);
        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class,
                () -> new RunningServer(
                        context -> context.passwords(passwords), Map.of(), Changed::withoutPrivateData));
        assertTrue(
                String.valueOf(e.getMessage()).startsWith("authentication (-Y) needs private data in the connect"),
                e::toString);
        assertTrue(String.valueOf(e.getMessage()).contains("use another provider"), e::toString);
    }

    @Test
    void shouldAskForAPasswordBeforeThereIsAToken() throws IOException {
        Passwords passwords = Passwords.read(Files.writeString(directory.resolve("users"), "foo:bar\n"));
        try (RunningServer running = new RunningServer(context -> context.passwords(passwords));
                RawMemcached tcp = new RawMemcached(running.address())) {
            String unauthenticated = "CLIENT_ERROR unauthenticated\r\n";
            assertEquals(unauthenticated, tcp.ask("rdma hello 2\r\n", unauthenticated));
            assertRefused(running, new byte[0], Refusal.NO_TOKEN);
            assertEquals("STORED\r\n", tcp.ask("set any 0 0 7\r\nfoo bar\r\n", "STORED\r\n"));
            RawQueuePair.bound(tcp, running, 2).close();
        }
    }

    /** The client cannot do what the server asks for, says so, and goes on over TCP where it may. */
    @Test
    void shouldTellClientWithoutPrivateDataWhatItLacks() {
        try (RunningServer running = new RunningServer()) {
            VerbsDevice poor = Changed.withoutPrivateData(running.clientDevice());
            try (KvClient client = KvClient.connect(poor, new KvClientContext(running.address()).conclude())) {
                assertSame(KvProtocol.PLAIN, client.protocol());
                assertTrue(client.plainReason().contains("private data"), client::plainReason);
                client.set(KEY, 0, 0, KEY);
                assertArrayEquals(KEY, client.get(KEY).orElseThrow().value());
            }
            KvClientContext strict = strict(running);
            KvException e = assertThrows(KvException.class, () -> KvClient.connect(poor, strict));
            assertTrue(String.valueOf(e.getMessage()).contains("private data"), e::toString);
        }
    }

    /** Tokens that are too old when they are shown. */
    @Test
    void shouldTellTheClientWhyItsQueuePairWasRefused() {
        try (RunningServer running = new RunningServer(
                context -> context,
                Map.of(),
                device -> Changed.listening(
                        device,
                        (listener, arguments) -> listener.next((long) arguments[0])
                                .map(request -> Changed.with(
                                        ConnectionRequest.class,
                                        request,
                                        "privateData",
                                        (original, none) -> HelloDescriptor.privateData(
                                                "ff".repeat(HelloDescriptor.TOKEN_LENGTH))))))) {
            KvClientContext strict = strict(running);
            KvException e = assertThrows(KvException.class, () -> KvClient.connect(running.clientDevice(), strict));
            assertTrue(String.valueOf(e.getMessage()).contains(Refusal.BAD_TOKEN.text()), e::toString);
        }
    }

    private static KvClientContext strict(RunningServer running) {
        return new KvClientContext(running.address()).protocol(KvProtocol.RDMA).conclude();
    }

    /** Connected, because the server waits no longer for its first message once it has READ nothing. */
    private static RawQueuePair stranger(RunningServer running) {
        RawQueuePair made = new RawQueuePair(running, running.clientDevice(), 2, ITEMS, new byte[0]);
        made.read(0, 0, 0);
        return made;
    }

    private static void assertServes(RunningServer running, VerbsDevice device) {
        try (KvClient client = KvClient.connect(device, strict(running))) {
            client.set(KEY, 0, 0, KEY);
            assertArrayEquals(KEY, client.get(KEY).orElseThrow().value());
            assertEquals(1, client.counters().hits());
        }
    }

    private static void assertRefused(RunningServer running, byte[] privateData, Refusal reason) {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of())) {
            ConnectionRejectedException e = assertThrows(
                    ConnectionRejectedException.class, () -> new RawQueuePair(running, device, 2, ITEMS, privateData));
            assertEquals(reason.text(), Refusal.textOf(e.privateData()));
        }
    }
}
