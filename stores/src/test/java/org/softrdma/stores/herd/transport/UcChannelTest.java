package org.softrdma.stores.herd.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.stores.live.LiveStores;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/** Both ends of the transport without connections, driven by one thread, over RoCEv2 on this host. */
class UcChannelTest {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final HerdShape SHAPE = new HerdShape(2, 4, 256);
    private static final long CLIENT = 4711;

    private final AtomicLong serverAheadNs = new AtomicLong();
    private final AtomicLong clientAheadNs = new AtomicLong();
    private final StoreCounters counters = new StoreCounters();
    private final List<UdPeer> arrived = new ArrayList<>();
    private final List<HerdPeer> gone = new ArrayList<>();
    private final Map<String, String> options = LiveStores.roce();
    private VerbsDevice serverDevice;
    private VerbsDevice clientDevice;
    private UdPort port;

    private final HerdHost host = new HerdHost() {
        @Override
        public HerdWelcome arrives(HerdPeer peer, long client, RemoteRegion slots) {
            arrived.stream()
                    .filter(other -> other.isOpen() && other.client() == client)
                    .forEach(UdPeer::drop);
            arrived.add((UdPeer) peer);
            return new HerdWelcome(SHAPE, true, false, 32, 100, arrived.size(), 1, 2, slots);
        }

        @Override
        public void left(HerdPeer peer) {
            gone.add(peer);
        }
    };

    @BeforeEach
    void open() {
        serverDevice = new SoftRdmaProvider().open(options);
        clientDevice = new SoftRdmaProvider().open(options);
        port = port(serverContext().conclude());
    }

    @AfterEach
    void close() {
        port.close();
        clientDevice.close();
        serverDevice.close();
    }

    private UdPort port(StoreServerContext context) {
        return new UdPort(serverDevice, context, SHAPE, true, List.of(counters, counters, counters));
    }

    private StoreServerContext serverContext() {
        return new StoreServerContext(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .maxConnections(2)
                .maxKeyLength(32)
                .maxValueLength(100)
                .nanoClock(() -> System.nanoTime() + serverAheadNs.get());
    }

    private StoreClientContext clientContext() {
        return new StoreClientContext(port.address())
                .window(4)
                .maxKeyLength(32)
                .maxValueLength(100)
                .nanoClock(() -> System.nanoTime() + clientAheadNs.get());
    }

    private void await(String what, BooleanSupplier done) {
        long startNs = System.nanoTime();
        while (!done.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < PATIENCE_NS, () -> "no " + what);
            int ignored = port.poll(host);
            Thread.onSpinWait();
        }
    }

    /** Connects on a thread of its own while the port is driven. */
    private HerdChannel connected(HerdChannels channels, long client) {
        CompletableFuture<HerdChannel> channel = CompletableFuture.supplyAsync(
                () -> channels.connect(clientContext().conclude(), counters, client));
        await("welcome", channel::isDone);
        return channel.join();
    }

    private HerdChannels channels() {
        return new UcChannels(clientDevice, port.address());
    }

    /**
     * The second worker answers slot 5, which is one of its own, again and again until the client has heard it; what the
     * client has heard. One datagram may be lost: the socket of either end may be full on a busy machine.
     */
    private List<Integer> heard(HerdChannel channel, UdPeer peer, int number) {
        List<Integer> numbers = new ArrayList<>();
        long[] againNs = {System.nanoTime()};
        await("answer", () -> {
            if (System.nanoTime() - againNs[0] >= 0) {
                answer(peer, 1, number);
                againNs[0] = System.nanoTime() + AGAIN_NS;
            }
            assertTrue(channel.poll((memory, at, length) -> numbers.add(HerdReplyDescriptor.number(memory, at))));
            return !numbers.isEmpty();
        });
        return numbers.stream().distinct().toList();
    }

    /** A worker answers slot 5. */
    private void answer(UdPeer peer, int worker, int number) {
        port.turn(worker, System.nanoTime() + serverAheadNs.get());
        HerdReplies replies = peer.replies(worker);
        assertTrue(replies.hasRoom(1));
        answer(replies.memory(), replies.nextAt(), 5, number);
        replies.add(HerdReplyDescriptor.length(0));
        replies.flush();
    }

    private static void answer(MemorySegment memory, long at, int slot, int number) {
        HerdReplyDescriptor.put(memory, at, slot, number, 1, HerdReplyDescriptor.DONE);
    }

    @Test
    void shouldBringRequestsAndAnswers() {
        try (HerdChannels channels = channels();
                HerdChannel channel = connected(channels, CLIENT)) {
            UdPeer peer = arrived.getFirst();
            channel.slots().set(ValueLayout.JAVA_LONG, SHAPE.end(5) - Long.BYTES, 77);
            channel.write(5, 16);
            await("request", () -> peer.slots().get(ValueLayout.JAVA_LONG, SHAPE.end(5) - Long.BYTES) == 77);
            assertEquals(List.of(9), heard(channel, peer, 9));
            assertFalse(channel.isReliable());
        }
    }

    @Test
    void shouldAdmitAClientOnceThatSaysHelloAgain() {
        try (HerdChannels channels = channels()) {
            CompletableFuture<HerdChannel> channel = CompletableFuture.supplyAsync(
                    () -> channels.connect(clientContext().conclude(), counters, CLIENT));
            // The device tells where hellos go; the server does not look.
            long startNs = System.nanoTime();
            while (counters.get(StoreCounter.SENDS) < 3) {
                assertTrue(System.nanoTime() - startNs < PATIENCE_NS, "no third hello");
                Thread.onSpinWait();
            }
            await("welcome", channel::isDone);
            try (HerdChannel made = channel.join()) {
                await("all answers", () -> counters.get(StoreCounter.SENDS) >= 5);
                assertEquals(1, arrived.size());
                assertTrue(made.poll((memory, at, length) -> {
                    throw new AssertionError("a welcome is no answer");
                }));
            }
        }
    }

    @Test
    void shouldDropDatagramsOfOthers() {
        try (HerdChannels channels = channels();
                HerdChannel channel = connected(channels, CLIENT);
                VerbsDevice other = new SoftRdmaProvider().open(options);
                ProtectionDomain domain = other.allocateProtectionDomain();
                RegisteredMemory forged = new RegisteredMemory(other, domain, 256, Set.of(AccessFlag.LOCAL_WRITE));
                CompletionQueue completions = other.createCompletionQueue(8);
                AddressHandle way =
                        domain.createAddressHandle(arrived.getFirst().way().host());
                UnconnectedQueuePair stranger =
                        domain.createQueuePair(QueuePairAttributes.of(completions, new QueuePairLimits(4, 1, 1, 1, 0))
                                .withDatagrams(1))) {
            UdPeer peer = arrived.getFirst();
            WorkCompletion[] one = WorkCompletion.array(1);
            answer(forged.segment(), 0, 5, 666);
            PostStatus posted = stranger.postSendTo(
                    1,
                    forged.region(),
                    0,
                    HerdReplyDescriptor.length(0),
                    way,
                    peer.number(),
                    peer.key(),
                    SendFlags.SIGNALLED);
            assertEquals(PostStatus.ACCEPTED, posted);
            await("its completion", () -> completions.poll(one) == 1);
            assertEquals(List.of(9), heard(channel, peer, 9));
        }
    }

    @Test
    void shouldDropAnswersOfAWorkerThatDoesNotHaveTheSlot() {
        try (HerdChannels channels = channels();
                HerdChannel channel = connected(channels, CLIENT)) {
            answer(arrived.getFirst(), 0, 666);
            assertEquals(List.of(9), heard(channel, arrived.getFirst(), 9));
        }
    }

    @Test
    void shouldLoseItsSlotsIfItAsksForNothing() {
        try (HerdChannels channels = channels();
                HerdChannel channel = connected(channels, CLIENT)) {
            UdPeer peer = arrived.getFirst();
            serverAheadNs.addAndGet(UdPeer.LEASE_NS / 2);
            await("a look", () -> port.poll(host) == 0);
            assertEquals(List.of(1), heard(channel, peer, 1)); // which counts as asking
            serverAheadNs.addAndGet(UdPeer.LEASE_NS / 2 + 1);
            await("a look", () -> port.poll(host) == 0);
            assertTrue(peer.isOpen());
            serverAheadNs.addAndGet(UdPeer.LEASE_NS);
            await("its end", () -> !peer.isOpen());
            assertEquals(List.of(peer), gone);
            channel.write(0, 16);
            clientAheadNs.addAndGet(UcChannel.SILENCE_NS + 1);
            assertFalse(channel.poll((memory, at, length) -> {}));
            HerdChannel again = connected(channels, CLIENT);
            assertTrue(arrived.getLast().isOpen());
            again.close();
        }
    }

    @Test
    void shouldCountAsLostWhenItsSlotsMayBe() {
        try (HerdChannels channels = channels();
                HerdChannel channel = connected(channels, CLIENT)) {
            assertTrue(channel.poll((memory, at, length) -> {}));
            clientAheadNs.addAndGet(UdPeer.LEASE_NS / 2 + 1);
            assertFalse(channel.poll((memory, at, length) -> {}));
        }
    }

    @Test
    void shouldReplaceAClientThatComesBack() {
        try (HerdChannels channels = channels();
                HerdChannel _ = connected(channels, CLIENT);
                HerdChannel _ = connected(channels, CLIENT)) {
            assertEquals(2, arrived.size());
            assertFalse(arrived.getFirst().isOpen());
            assertTrue(arrived.getLast().isOpen());
            assertEquals(List.of(arrived.getFirst()), gone);
        }
    }

    @Test
    void shouldWelcomeNoMoreClientsThanItMayHave() {
        try (HerdChannels channels = channels();
                HerdChannel _ = connected(channels, 1);
                HerdChannel _ = connected(channels, 2)) {
            CompletableFuture<HerdChannel> three = CompletableFuture.supplyAsync(() -> channels.connect(
                    clientContext()
                            .connectTimeoutNs(TimeUnit.MILLISECONDS.toNanos(300))
                            .conclude(),
                    counters,
                    3));
            await("its failure", three::isDone);
            assertTrue(three.isCompletedExceptionally());
            assertEquals(2, arrived.size());
        }
    }

    @Test
    void shouldRefuseWhatFitsNoPacket() {
        int most = serverDevice.capabilities().maxTransferUnit();
        StoreException refused = assertThrows(
                StoreException.class,
                () -> port(serverContext().maxValueLength(most).conclude()));
        assertTrue(String.valueOf(refused.getMessage()).contains("an answer is one datagram"), refused::toString);
        StoreServerContext paper = serverContext().protocol(Protocol.PAPER).conclude();
        StoreException published = assertThrows(
                StoreException.class,
                () -> new UdPort(
                        serverDevice, paper, new HerdShape(1, 1, most + 64), true, List.of(counters, counters)));
        assertTrue(String.valueOf(published.getMessage()).contains("one packet"), published::toString);
    }
}
