package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.sim.peer.TwoHosts.Host;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;

/** A host that vanishes is noticed in seconds, on both sides; one whose application does not read is not gone. */
@Tag("slow")
class VanishedHostTest {
    private static final long HOST_TIMEOUT_MS = 2000;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(120);
    private static final int LENGTH = 1 << 20;
    private static final long PEER_ADDRESS = 0x7000_0000L;
    private static final int PEER_KEY = 0x1234;
    private static final int REQUEST_BYTES = 24;
    private static final int READS = 3;
    private static final byte[] FIRST = Frames.tagged(Frames.WRITE, true, 0, 0);

    private static @Nullable TwoHosts made;

    @BeforeAll
    static void makeHosts() throws IOException {
        StringBuilder why = new StringBuilder();
        made = TwoHosts.make(why).orElse(null);
        Assumptions.assumeTrue(made != null, why::toString);
    }

    @AfterAll
    static void removeHosts() throws IOException {
        if (made != null) {
            made.close();
        }
    }

    private static TwoHosts hosts() {
        return Objects.requireNonNull(made);
    }

    @AfterEach
    void mend() throws IOException {
        hosts().forward(true);
    }

    private static TestDevice device(Host host, String transport) throws Exception {
        return hosts().on(
                        host,
                        () -> new TestDevice("transport", transport, "host-timeout", Long.toString(HOST_TIMEOUT_MS)));
    }

    /** A queue pair on the left whose peer on the right has accepted and says nothing more. */
    private static final class Initiator implements AutoCloseable {
        private final TestDevice device;
        private final RawPeer peer;
        private final QueuePair pair;
        private final TestDevice.Guarded memory;

        Initiator(String transport) throws Exception {
            device = device(Host.LEFT, transport);
            memory = device.guarded(LENGTH, AccessFlag.READ_SINK);
            try (ServerSocket server =
                    hosts().on(Host.RIGHT, () -> new ServerSocket(0, 1, TwoHosts.address(Host.RIGHT)))) {
                InetSocketAddress remote = new InetSocketAddress(TwoHosts.address(Host.RIGHT), server.getLocalPort());
                CompletableFuture<RawPeer> accepted = CompletableFuture.supplyAsync(() -> reply(server));
                Connector connector = device.own(device.device().resolve(remote, TestDevice.DEADLINE_NS));
                pair = device.own(connector.createQueuePair(
                        device.domain(), QueuePairAttributes.of(device.queue(), QueuePairLimits.of(64, 4))));
                connector.connect(ConnectionParameters.ofReads(READS), TestDevice.DEADLINE_NS);
                peer = device.own(accepted.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS));
            }
        }

        private static RawPeer reply(ServerSocket server) {
            try {
                RawPeer peer = RawPeer.accept(server);
                peer.receive(REQUEST_BYTES);
                peer.sendBytes(Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, READS, READS)));
                peer.send(FIRST);
                return peer;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        private void read(long wrId) {
            assertEquals(
                    PostStatus.ACCEPTED,
                    pair.postRead(wrId, memory.region(), 0, 64, PEER_ADDRESS, PEER_KEY, SendFlags.SIGNALLED));
        }

        private void write(long wrId) {
            assertEquals(
                    PostStatus.ACCEPTED,
                    pair.postWrite(wrId, memory.region(), 0, LENGTH, PEER_ADDRESS, PEER_KEY, SendFlags.SIGNALLED));
        }

        @Override
        public void close() {
            device.close();
        }
    }

    /** Statuses of the next completions, in order. */
    private static List<CompletionStatus> statuses(TestDevice device, int count) {
        List<CompletionStatus> statuses = new ArrayList<>();
        WorkCompletion[] one = WorkCompletion.array(1);
        long startNs = System.nanoTime();
        while (statuses.size() < count) {
            assertTrue(System.nanoTime() - startNs < PATIENCE_NS, () -> "only " + statuses);
            if (device.queue().poll(one, 1) == 1) {
                statuses.add(one[0].status());
            }
            Thread.onSpinWait();
        }
        return statuses;
    }

    /** The kernel gives up by itself, later; this side noticed it. */
    private static void expectNoticed(TestDevice device, QueuePair pair) throws Exception {
        expectSilent(device, pair);
        String reason = pair.disconnected().toCompletableFuture().get();
        assertTrue(reason.contains("according to the kernel"), reason);
    }

    private static void expectSilent(TestDevice device, QueuePair pair) throws Exception {
        String reason = pair.disconnected().toCompletableFuture().get(PATIENCE_NS, TimeUnit.NANOSECONDS);
        assertTrue(reason.contains("did not answer for 2.0 s"), reason);
        assertEquals(QueuePairState.ERROR, pair.state());
        assertEquals(1, device.counter("silentHosts"));
    }

    /** While bytes are under way keep-alive is silent and java.nio tells nothing: docs/reference/wire.md. */
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "uring"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldFailTheReadsWhenTheHostOfTheResponderVanishes(String transport) throws Exception {
        try (Initiator initiator = new Initiator(transport)) {
            for (int i = 0; i < READS + 1; i++) {
                initiator.read(i);
            }
            initiator.peer.receive(READS * Frames.fpdu(Frames.readRequest(1, 0, 0, 0, 0, 0), false).length);
            hosts().forward(false);
            assertEquals(
                    List.of(
                            CompletionStatus.RETRY_EXCEEDED_ERROR,
                            CompletionStatus.FLUSHED,
                            CompletionStatus.FLUSHED,
                            CompletionStatus.FLUSHED),
                    statuses(initiator.device, READS + 1));
            expectSilent(initiator.device, initiator.pair);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "uring"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldFailTheWritesWhenTheHostOfTheResponderVanishesBeforeItHasTheirBytes(String transport) throws Exception {
        try (Initiator initiator = new Initiator(transport)) {
            hosts().forward(false);
            int writes = 40;
            for (int i = 0; i < writes; i++) {
                initiator.write(i);
            }
            List<CompletionStatus> statuses = statuses(initiator.device, writes);
            int failed = statuses.indexOf(CompletionStatus.RETRY_EXCEEDED_ERROR);
            assertTrue(failed >= 0, statuses::toString);
            statuses.subList(0, failed).forEach(status -> assertEquals(CompletionStatus.SUCCESS, status));
            statuses.subList(failed + 1, writes).forEach(status -> assertEquals(CompletionStatus.FLUSHED, status));
            expectNoticed(initiator.device, initiator.pair);
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldFlushTheReceivesWhenTheHostOfAnIdleInitiatorVanishes(String transport) throws Exception {
        try (TestDevice device = device(Host.RIGHT, transport)) {
            Listener listener =
                    device.own(device.device().listen(new InetSocketAddress(TwoHosts.address(Host.RIGHT), 0), 1));
            TestDevice.Guarded memory = device.guarded(64, AccessFlag.RECEIVE_SINK);
            RawPeer peer = device.own(hosts().on(Host.LEFT, () -> RawPeer.connect(listener.localAddress())));
            peer.sendBytes(Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, READS, READS)));
            ConnectionRequest request = listener.next(TestDevice.DEADLINE_NS).orElseThrow();
            QueuePair pair = device.queuePair(request, QueuePairLimits.of(4, 4));
            pair.postReceive(1, memory.region(), 0, 64);
            request.accept(ConnectionParameters.ofReads(READS));
            peer.receiveMpa();
            peer.send(FIRST);
            hosts().forward(false);
            assertEquals(List.of(CompletionStatus.FLUSHED), statuses(device, 1));
            expectSilent(device, pair);
        }
    }

    /** TCP_USER_TIMEOUT would end it: it counts while the window is closed, though every question is answered. */
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "uring"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldWaitForAPeerThatDoesNotReadUntilItsHostVanishes(String transport) throws Exception {
        try (Initiator initiator = new Initiator(transport)) {
            int writes = 40;
            for (int i = 0; i < writes; i++) {
                initiator.write(i);
            }
            TimeUnit.MILLISECONDS.sleep(4 * HOST_TIMEOUT_MS); // that nothing happens takes its time
            assertEquals(QueuePairState.READY_TO_SEND, initiator.pair.state());
            assertEquals(0, initiator.device.counter("silentHosts"));
            hosts().forward(false);
            List<CompletionStatus> statuses = statuses(initiator.device, writes);
            assertTrue(statuses.contains(CompletionStatus.RETRY_EXCEEDED_ERROR), statuses::toString);
            expectNoticed(initiator.device, initiator.pair);
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldWaitForAPeerThatSaysNothing(String transport) throws Exception {
        try (Initiator initiator = new Initiator(transport)) {
            initiator.read(1);
            TimeUnit.MILLISECONDS.sleep(4 * HOST_TIMEOUT_MS); // that nothing happens takes its time
            assertEquals(QueuePairState.READY_TO_SEND, initiator.pair.state());
            initiator.device.expectNoCompletion();
        }
    }
}
