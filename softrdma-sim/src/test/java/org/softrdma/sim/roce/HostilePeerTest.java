package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.roce.wire.Aeth;
import org.softrdma.sim.roce.wire.AtomicEth;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.sim.roce.wire.Reth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/** Peers that send what no device sends, lie, vanish and come back: each costs its own connection, and no other. */
@Timeout(60)
class HostilePeerTest {
    private static final int PACKETS = 20_000;
    private static final byte[] HERE = {127, 0, 0, 1};
    private static final byte[] ELSEWHERE = {127, 0, 0, 2};
    private static final int UNIT = 1024;
    /** Packets with which a connection begins, whatever its peer has room for. */
    private static final int CONGESTION_FIRST = 16;

    /** Two devices that get along, and a raw peer of the passive one. */
    private static final class Scene implements AutoCloseable {
        final RoceEnds ends;
        final RawRocePeer peer;
        private QueuePair accepted;

        Scene(long guid, int seed) throws Exception {
            this(guid, seed, Map.of("roce-timeout", "20"));
        }

        Scene(long guid, int seed, Map<String, String> options) throws Exception {
            this(guid, seed, options, Map.of());
        }

        Scene(long guid, int seed, Map<String, String> options, Map<String, String> ofActive) throws Exception {
            ends = new RoceEnds("epoll", options, ofActive).connect();
            peer = peer(HERE, RoceEnds.freePort(), guid, seed);
            accepted = accept(peer);
        }

        RawRocePeer peer(byte[] address, int port, long guid, int seed) throws Exception {
            return new RawRocePeer(
                    new InetSocketAddress(InetAddress.getByAddress(address), port),
                    new InetSocketAddress(InetAddress.getByAddress(HERE), ends.port()),
                    guid,
                    seed);
        }

        QueuePair accept(RawRocePeer of) {
            CompletableFuture<QueuePair> accepting = CompletableFuture.supplyAsync(() -> {
                ConnectionRequest request =
                        ends.listener.next(RoceEnds.DEADLINE_NS).orElseThrow();
                QueuePair made = request.createQueuePair(ends.passive.domain, ends.passive.attributes());
                request.accept(ConnectionParameters.ofReads(4));
                return made;
            });
            of.connect(ends.listener.localAddress().getPort());
            of.await("replied");
            return accepting.join();
        }

        /** The devices still do what they should. */
        void requireThatOthersGoOn() {
            ends.passive.pair().postReceive(1, ends.passive.region, 0, 64);
            ends.active.pair().postSend(2, ends.active.region, 0, 64, SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertEquals(CompletionStatus.SUCCESS, ends.passive.next().status());
            assertEquals(0, ends.passive.counter("engineFaults"));
            assertEquals(QueuePairState.READY_TO_SEND, ends.passive.pair().state());
        }

        /** Writes a BTH with the PSN that is due, plus something. */
        long begin(int opcode, int payload, int ahead) {
            long at = peer.packet();
            Bth.put(at, opcode, 0, payload, peer.deviceQueuePair(), Psn.plus(peer.firstPsn(), ahead));
            Bth.requestAcknowledgement(at);
            return at;
        }

        void send(int opcode, int payload) {
            RocePacket.putPad(peer.packet(), opcode, payload);
            peer.send(RocePacket.length(opcode, payload));
        }

        @Override
        public void close() throws IOException {
            peer.close();
            accepted.close();
            ends.close();
        }
    }

    private static void until(BooleanSupplier condition, String what) {
        long endNs = System.nanoTime() + RoceEnds.DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - endNs < 0, what);
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldKnowAQueuePairByTheSameNumberAsItsPeer() throws Exception {
        try (Scene scene = new Scene(1, 1)) {
            assertEquals(scene.accepted.number(), scene.peer.deviceQueuePair());
        }
    }

    /** The first packet comes again because nothing is acknowledged: until then no more have come than the peer has room for. */
    @ParameterizedTest
    @CsvSource({"5, 5", "1, 4", "1000, 64", "0, 64"})
    void shouldHaveNoMoreOnItsWayThanThePeerHasRoomFor(int held, int expected) throws Exception {
        try (Scene scene = new Scene(6, 1, Map.of("roce-timeout", "20", "roce-window", "0"));
                RawRocePeer small = scene.peer(HERE, RoceEnds.freePort(), 7, 2)) {
            small.heldPackets = held;
            QueuePair pair = scene.accept(small);
            assertEquals(
                    PostStatus.ACCEPTED,
                    pair.postWrite(1, scene.ends.passive.region, 0, 100 * UNIT, 0, 1, SendFlags.NONE));
            int first = psn(small.next());
            int count = 1;
            for (int psn = psn(small.next()); psn != first; psn = psn(small.next())) {
                count++;
            }
            assertEquals(Math.min(expected, CONGESTION_FIRST), count);
            assertTrue(small.reply().endpoint().heldPackets() >= 8);
            scene.requireThatOthersGoOn();
            pair.close();
        }
    }

    private static int psn(byte[] packet) {
        return (packet[9] & 0xFF) << 16 | (packet[10] & 0xFF) << 8 | (packet[11] & 0xFF);
    }

    @Test
    void shouldRefuseAReadOfWhatIsNotThePeers() throws Exception {
        try (Scene scene = new Scene(1, 1)) {
            long at = scene.begin(RoceOpcode.READ_REQUEST, 0, 0);
            Reth.put(at, scene.ends.passive.region.address(), scene.ends.passive.region.rkey() ^ 1, 64);
            scene.send(RoceOpcode.READ_REQUEST, 0);
            byte[] answer = scene.peer.next();
            assertEquals(RoceOpcode.ACKNOWLEDGE, answer[0]);
            assertEquals(Aeth.REMOTE_ACCESS_ERROR, answer[Aeth.SYNDROME_OFFSET]);
            scene.peer.await("disconnected");
            until(() -> scene.accepted.state() == QueuePairState.ERROR, "the queue pair is not in ERROR");
            scene.requireThatOthersGoOn();
        }
    }

    @Test
    void shouldCountAReadOnceThatIsAskedForAgain() throws Exception {
        try (Scene scene = new Scene(3, 1)) {
            for (int i = 0; i < 3; i++) {
                long at = scene.begin(RoceOpcode.READ_REQUEST, 0, 0);
                Reth.put(at, scene.ends.passive.region.address(), scene.ends.passive.region.rkey(), 64);
                scene.send(RoceOpcode.READ_REQUEST, 0);
                assertEquals(RoceOpcode.READ_RESPONSE_ONLY, scene.peer.next()[0]);
            }
            assertEquals(1, scene.ends.passive.counter("responderReads"));
            assertEquals(64, scene.ends.passive.counter("responderReadBytes"));
            scene.requireThatOthersGoOn();
        }
    }

    @Test
    void shouldDropAndCountPacketsThatAreDamagedOrOfSomebodyElse() throws Exception {
        try (Scene scene = new Scene(2, 1);
                RawRocePeer stranger = scene.peer(ELSEWHERE, 0, 3, 1)) {
            scene.begin(RoceOpcode.SEND_ONLY, 0, 0);
            scene.peer.send(RocePacket.length(RoceOpcode.SEND_ONLY, 0), 1 << 5);
            until(() -> scene.ends.passive.counter("roce.icrcErrors") == 1, "the damaged packet is not counted");

            Bth.put(stranger.packet(), RoceOpcode.SEND_ONLY, 0, 0, scene.peer.deviceQueuePair(), scene.peer.firstPsn());
            stranger.send(RocePacket.length(RoceOpcode.SEND_ONLY, 0));
            until(() -> scene.ends.passive.counter("roce.foreignSource") == 1, "the stranger's packet is not counted");

            long unknown = scene.ends.passive.counter("roce.unknownQueuePair");
            Bth.put(stranger.packet(), RoceOpcode.SEND_ONLY, 0, 0, scene.peer.deviceQueuePair() ^ 1, 0);
            stranger.send(RocePacket.length(RoceOpcode.SEND_ONLY, 0));
            until(() -> scene.ends.passive.counter("roce.unknownQueuePair") > unknown, "it is not counted");

            stranger.send(9);
            until(() -> scene.ends.passive.counter("roce.malformed") == 1, "the short packet is not counted");
            assertEquals(QueuePairState.READY_TO_SEND, scene.accepted.state());
            scene.requireThatOthersGoOn();
        }
    }

    /** Whatever a peer sends with the right ICRC: headers, lengths and numbers by seed. */
    @Test
    void shouldSurviveWhateverAPeerSends() throws Exception {
        long seed = Long.getLong("softrdma.roce.seed", System.nanoTime());
        Random random = new Random(seed);
        try (Scene scene = new Scene(4, 1)) {
            for (int i = 0; i < PACKETS; i++) {
                int length = random.nextInt(1, 64) * Integer.BYTES;
                long at = scene.peer.packet();
                for (int b = 0; b < length; b++) {
                    NativeMemory.putByte(at + b, random.nextInt());
                }
                int opcode = random.nextInt(random.nextBoolean() ? 0x18 : 0x100);
                boolean mine = random.nextInt(4) > 0;
                Bth.put(
                        at,
                        opcode,
                        random.nextInt() & (Bth.SOLICITED | Bth.MIGRATED),
                        random.nextInt(),
                        mine ? scene.peer.deviceQueuePair() : random.nextInt(1 << 24),
                        Psn.plus(scene.peer.firstPsn(), random.nextInt(-3, 4)));
                if (RoceOpcode.isKnown(opcode) && RoceOpcode.hasReth(opcode) && random.nextBoolean()) {
                    Reth.put(
                            at,
                            scene.ends.passive.region.address() + random.nextInt(-64, 4096),
                            scene.ends.passive.region.rkey(),
                            random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(256));
                }
                if (RoceOpcode.isKnown(opcode) && RoceOpcode.isAtomic(opcode) && random.nextBoolean()) {
                    AtomicEth.put(
                            at,
                            scene.ends.passive.region.address() + random.nextInt(4096),
                            scene.ends.passive.region.rkey(),
                            1,
                            0);
                }
                scene.peer.send(Math.max(16, length));
                if (random.nextInt(16) == 0) {
                    scene.peer.poll();
                }
            }
            scene.requireThatOthersGoOn();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("softrdma.roce.seed=" + seed + ": " + e.getMessage(), e);
        }
    }

    @Test
    void shouldEndTheConnectionWhenThePeerHasVanished() throws Exception {
        try (Scene scene = new Scene(5, 1)) {
            scene.peer.close();
            scene.accepted.postSend(7, scene.ends.passive.region, 0, 64, SendFlags.SIGNALLED);
            assertEquals(
                    CompletionStatus.RETRY_EXCEEDED_ERROR,
                    scene.ends.passive.next().status());
            String reason = scene.accepted.disconnected().toCompletableFuture().get(10, TimeUnit.SECONDS);
            assertEquals("the peer does not answer", reason);
            assertTrue(scene.ends.passive.counter("roce.timeouts") >= 7);
            scene.requireThatOthersGoOn();
        }
    }

    @Test
    void shouldEndAnIdleConnectionWhosePeerHasVanished() throws Exception {
        try (Scene scene = new Scene(7, 1, Map.of("host-timeout", "400"))) {
            scene.begin(RoceOpcode.SEND_ONLY, 0, -1); // it is ready
            scene.send(RoceOpcode.SEND_ONLY, 0);
            byte[] answer = scene.peer.next();
            assertEquals(RoceOpcode.ACKNOWLEDGE, answer[0]);
            scene.peer.close();
            String reason = scene.accepted.disconnected().toCompletableFuture().get(30, TimeUnit.SECONDS);
            assertEquals("the peer's host did not answer for 0.4 s", reason);
            assertEquals(QueuePairState.ERROR, scene.accepted.state());
            assertEquals(1, scene.ends.passive.counter("silentHosts"));
            scene.requireThatOthersGoOn();
        }
    }

    /** Nobody drives the active device while the test waits, for longer than the host timeout. */
    @Test
    void shouldKeepAnIdleConnectionWhosePeerIsInManualProgress() throws Exception {
        try (Scene scene = new Scene(8, 1, Map.of("host-timeout", "400"), Map.of("progress", "manual"))) {
            scene.begin(RoceOpcode.SEND_ONLY, 0, -1); // it is ready
            scene.send(RoceOpcode.SEND_ONLY, 0);
            assertEquals(RoceOpcode.ACKNOWLEDGE, scene.peer.next()[0]);
            scene.peer.close();
            scene.accepted.disconnected().toCompletableFuture().get(30, TimeUnit.SECONDS);
            scene.requireThatOthersGoOn();
        }
    }

    /** Both peers are sent something at a time; one has vanished, and nobody drives the other one meanwhile. */
    @Test
    void shouldWaitForAnAcknowledgementOfAPeerInManualProgress() throws Exception {
        try (Scene scene = new Scene(9, 1, Map.of("roce-timeout", "20"), Map.of("progress", "manual"))) {
            scene.peer.close();
            scene.ends.active.pair().postReceive(1, scene.ends.active.region, 0, 64);
            scene.ends.passive.pair().postSend(2, scene.ends.passive.region, 0, 64, SendFlags.SIGNALLED);
            scene.accepted.postSend(7, scene.ends.passive.region, 0, 64, SendFlags.SIGNALLED);
            assertEquals(
                    CompletionStatus.RETRY_EXCEEDED_ERROR,
                    scene.ends.passive.next().status());
            assertEquals(QueuePairState.READY_TO_SEND, scene.ends.passive.pair().state());
            assertEquals(CompletionStatus.SUCCESS, scene.ends.active.next().status());
            assertEquals(CompletionStatus.SUCCESS, scene.ends.passive.next().status());
            scene.requireThatOthersGoOn();
        }
    }

    /** As long as the old connection is remembered, the peer is refused, and asks again, as rdma_cm's users do. */
    private static QueuePair acceptAgain(Scene scene, RawRocePeer again) {
        CompletableFuture<QueuePair> accepting = CompletableFuture.supplyAsync(() -> {
            ConnectionRequest request =
                    scene.ends.listener.next(RoceEnds.DEADLINE_NS).orElseThrow();
            QueuePair made = request.createQueuePair(scene.ends.passive.domain, scene.ends.passive.attributes());
            request.accept(ConnectionParameters.ofReads(4));
            return made;
        });
        do {
            again.events.clear();
            again.connect(scene.ends.listener.localAddress().getPort());
        } while (!again.awaitDecision());
        return accepting.join();
    }

    /** A kernel that was booted again has the same GUID and numbers of queue pairs. */
    @Test
    void shouldHearAPeerThatWasStartedAgain() throws Exception {
        try (Scene scene = new Scene(6, 100)) {
            scene.peer.close();
            try (RawRocePeer again = scene.peer(HERE, scene.peer.port(), 6, 500)) {
                again.connect(scene.ends.listener.localAddress().getPort());
                again.await("failed " + ConnectReject.STALE_CONNECTION);
                until(() -> scene.accepted.state() == QueuePairState.ERROR, "the old connection is not ended");
                while (scene.ends.passive.counter("connectionsClosed") == 0) {
                    again.poll(); // it answers the DREQ, so that the old connection comes to its timewait
                }
                QueuePair made = acceptAgain(scene, again);
                assertEquals(QueuePairState.READY_TO_SEND, made.state());
                made.close();
            }
            scene.requireThatOthersGoOn();
        }
    }
}
