package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/** Two devices speak RoCEv2 over UDP sockets: each request does what it does on every wire. */
@Timeout(60)
class RoceWireTest {
    private static final int LONG = 300_001;
    private static final int WORD_READS = 5_000 / Integer.getInteger("softrdma.sample", 1);

    private static MemorySegment fill(RoceEnds.Side side, long seed) {
        byte[] bytes = new byte[RoceEnds.BYTES];
        new Random(seed).nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, side.memory, 0, bytes.length);
        return MemorySegment.ofArray(bytes);
    }

    private static void assertSame(MemorySegment expected, MemorySegment found, long length) {
        assertEquals(-1, expected.asSlice(0, length).mismatch(found.asSlice(0, length)));
    }

    @ParameterizedTest
    @EveryTransport
    void shouldReceiveWhatWasSent(String transport) {
        try (RoceEnds ends = new RoceEnds(transport, Map.of()).connect()) {
            MemorySegment sent = fill(ends.active, 1);
            for (int length : new int[] {0, 1, 3, 4095, 4096, 4097, LONG}) {
                assertEquals(PostStatus.ACCEPTED, ends.passive.pair().postReceive(7, ends.passive.region, 0, LONG));
                assertEquals(
                        PostStatus.ACCEPTED,
                        ends.active.pair().postSend(8, ends.active.region, 0, length, SendFlags.SIGNALLED));
                WorkCompletion received = ends.passive.next();
                assertEquals(CompletionStatus.SUCCESS, received.status());
                assertEquals(length, received.byteLength());
                assertSame(sent, ends.passive.memory, length);
                assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            }
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldReadAndWriteThePeersMemory(String transport) {
        try (RoceEnds ends = new RoceEnds(transport, Map.of()).connect()) {
            MemorySegment theirs = fill(ends.passive, 2);
            long to = ends.passive.region.address();
            int key = ends.passive.region.rkey();
            ends.active.pair().postRead(1, ends.active.region, 0, LONG, to, key, SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertSame(theirs, ends.active.memory, LONG);

            MemorySegment mine = fill(ends.active, 3);
            ends.active.pair().postWrite(2, ends.active.region, 0, LONG, to, key, SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertSame(mine, ends.passive.memory, LONG);
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldChangeWordsAndCarryImmediates(String transport) {
        try (RoceEnds ends = new RoceEnds(transport, Map.of()).connect()) {
            ends.passive.memory.set(ValueLayout.JAVA_LONG, 8, 40);
            long word = ends.passive.region.address() + 8;
            int key = ends.passive.region.rkey();
            ends.active.pair().postFetchAndAdd(1, ends.active.region, 0, word, key, 2, SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            ends.active.pair().postCompareAndSwap(1, ends.active.region, 8, word, key, 42, 43, SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertEquals(40, ends.active.memory.get(ValueLayout.JAVA_LONG, 0));
            assertEquals(42, ends.active.memory.get(ValueLayout.JAVA_LONG, 8));
            assertEquals(43, ends.passive.memory.get(ValueLayout.JAVA_LONG, 8));

            ends.passive.pair().postReceive(1, ends.passive.region, 64, 64);
            ends.passive.pair().postReceive(2, ends.passive.region, 64, 64);
            long to = ends.passive.region.address() + 512;
            ends.active.pair().postWriteImmediate(2, ends.active.region, 0, 16, to, key, 0x1234, SendFlags.NONE);
            ends.active.pair().postSendImmediate(3, ends.active.region, 0, 16, 0x5678, SendFlags.SIGNALLED);
            WorkCompletion written = ends.passive.next();
            assertEquals(CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, written.opcode());
            assertEquals(0x1234, written.immediate());
            WorkCompletion sent = ends.passive.next();
            assertEquals(CompletionOpcode.RECEIVE, sent.opcode());
            assertEquals(0x5678, sent.immediate());
            assertEquals(16, sent.byteLength());
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldTellTheRequesterWhyThePeerRefuses(String transport) throws Exception {
        try (RoceEnds ends = new RoceEnds(transport, Map.of()).connect()) {
            long beyond = ends.passive.region.address() + RoceEnds.BYTES - 8;
            ends.active
                    .pair()
                    .postWrite(1, ends.active.region, 0, 64, beyond, ends.passive.region.rkey(), SendFlags.SIGNALLED);
            assertEquals(
                    CompletionStatus.REMOTE_ACCESS_ERROR, ends.active.next().status());
            assertEquals(QueuePairState.ERROR, ends.active.pair().state());
            String ignored =
                    ends.passive.pair().disconnected().toCompletableFuture().get(10, TimeUnit.SECONDS);
            assertEquals(1, ends.passive.counter("accessErrors"));
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldWaitForAReceiverThatIsNotReady(String transport) {
        try (RoceEnds ends = new RoceEnds(transport, Map.of()).connect()) {
            ends.active.pair().postSend(1, ends.active.region, 0, 64, SendFlags.SIGNALLED);
            while (ends.passive.counter("roce.duplicates") + ends.passive.counter("roce.packetsReceived") < 6) {
                Thread.onSpinWait(); // until it has asked a few times
            }
            ends.passive.pair().postReceive(1, ends.passive.region, 0, 64);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertEquals(CompletionStatus.SUCCESS, ends.passive.next().status());
            assertTrue(ends.active.counter("roce.retransmitted") > 0);
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldEndBothSidesWhenOneDisconnects(String transport) throws Exception {
        try (RoceEnds ends = new RoceEnds(transport, Map.of()).connect()) {
            ends.passive.pair().postReceive(5, ends.passive.region, 0, 64);
            ends.active.pair().disconnect();
            String reason =
                    ends.passive.pair().disconnected().toCompletableFuture().get(10, TimeUnit.SECONDS);
            assertEquals("the peer closed the connection", reason);
            assertEquals(CompletionStatus.FLUSHED, ends.passive.next().status());
            assertEquals(0, ends.active.counter("engineFaults") + ends.passive.counter("engineFaults"));
        }
    }

    /** Each thread has a socket of its own; cards and SoftRoCE know one port of a host, so peers come to one. */
    @Test
    void shouldConnectToThisHostFromEachThreadAndServePeersOnTheFirst() {
        try (RoceEnds ends = new RoceEnds("epoll", Map.of("threads", "2"))) {
            ends.connect();
            try (QueuePair first = ends.active.pair();
                    QueuePair served = ends.passive.pair()) {
                ends.connect();
                assertEquals(2, ends.active.counter("openSockets"));
                assertEquals(1, ends.passive.counter("openSockets"));
                RemoteRegion there = ends.passive.remote();
                RoceEnds.accept(first.postRead(
                        1, ends.active.region, 0, 9, there.address(), there.rkey(), SendFlags.SIGNALLED));
                RoceEnds.expect(1, ends.active);
                assertEquals(QueuePairState.READY_TO_SEND, served.state());
            }
        }
    }

    @Test
    void shouldSayWhatToDoWhenTheUdpPortIsTaken() {
        try (RoceEnds ends = new RoceEnds("epoll", Map.of())) {
            InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            VerbsException refused = assertThrows(VerbsException.class, () -> ends.active.device.listen(any, 1));
            assertEquals(VerbsErrorCode.ADDRESS_IN_USE, refused.code());
            assertTrue(String.valueOf(refused.getMessage()).contains("choose another by roce-port"), refused::toString);
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldConnectOverIpv6(String transport) throws Exception {
        InetAddress loopback = InetAddress.getByAddress(new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
        Assumptions.assumeTrue(NetworkInterface.getByInetAddress(loopback) != null, "this host has no IPv6");
        try (RoceEnds ends = new RoceEnds(transport, Map.of())) {
            ends.listenAt(loopback).connect();
            MemorySegment theirs = fill(ends.passive, 4);
            ends.active
                    .pair()
                    .postRead(
                            1,
                            ends.active.region,
                            0,
                            LONG,
                            ends.passive.region.address(),
                            ends.passive.region.rkey(),
                            SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertSame(theirs, ends.active.memory, LONG);
            assertEquals(0, ends.active.counter("roce.icrcErrors"));
        }
    }

    /** One port for each address of the host. */
    @Test
    void shouldHearPeersAtEveryAddressWhenItListensOnTheWildcard() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", Map.of())) {
            ends.listenAt(InetAddress.getByAddress(new byte[4])).connect();
            ends.passive.pair().postReceive(1, ends.passive.region, 0, 64);
            ends.active.pair().postSend(1, ends.active.region, 0, 64, SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertEquals(CompletionStatus.SUCCESS, ends.passive.next().status());
        }
    }

    /** A word across the border of two packets, which are read one after the other. */
    @Tag("sampled")
    @Test
    void shouldReadWholeWordsOfPolledMemoryWhereverAReadBegins() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", Map.of("roce-mtu", "1024")).connect()) {
            VarHandle word = ValueLayout.JAVA_LONG.varHandle();
            int border = 1024; // of a READ that begins 4 bytes before a word: the word's own middle
            AtomicBoolean stop = new AtomicBoolean();
            Thread writer = Thread.ofPlatform().start(() -> {
                for (long i = 0; !stop.get(); i++) {
                    word.setOpaque(ends.passive.memory, (long) border, i << Integer.SIZE | (i & 0xFFFF_FFFFL));
                }
            });
            try {
                for (int i = 0; i < WORD_READS; i++) {
                    ends.active
                            .pair()
                            .postRead(
                                    1,
                                    ends.active.region,
                                    4,
                                    2048,
                                    ends.passive.region.address() + 4,
                                    ends.passive.region.rkey(),
                                    SendFlags.SIGNALLED);
                    assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
                    long seen = ends.active.memory.get(ValueLayout.JAVA_LONG, border);
                    assertEquals(seen >>> Integer.SIZE, seen & 0xFFFF_FFFFL, "a word that never was");
                }
            } finally {
                stop.set(true);
                writer.join();
            }
        }
    }
}
