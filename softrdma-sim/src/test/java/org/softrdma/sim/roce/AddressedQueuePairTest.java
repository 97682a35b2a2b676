package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.sim.roce.RoceEnds.accept;
import static org.softrdma.sim.roce.RoceEnds.expectFailed;
import static org.softrdma.sim.roce.RoceEnds.unconnected;
import static org.softrdma.sim.roce.RoceEnds.until;

import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.roce.wire.Aeth;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Deth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/** Queue pairs that no connection manager knows, over UDP sockets: whom they hear, and what they refuse. */
@Timeout(60)
class AddressedQueuePairTest {
    private static final int KEY = RoceEnds.QUEUE_KEY;
    private static final int NOBODY = 0x777;
    private static final int LENGTH = 1_000;
    private static final Map<String, String> HERE = RoceEnds.HERE;

    private static InetSocketAddress at(String address) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), QueuePairAddress.PORT);
    }

    /** A raw peer at one of this host's addresses, which sends to a queue pair. */
    private static RawRocePeer stranger(String from, UnconnectedQueuePair to) throws Exception {
        return new RawRocePeer(
                new InetSocketAddress(InetAddress.ofLiteral(from), RoceEnds.freePort()),
                to.address().host(),
                1,
                1);
    }

    private static void sendDatagram(RawRocePeer from, int number, int key, int length) {
        int opcode = RoceOpcode.UD | RoceOpcode.SEND_ONLY;
        long at = from.packet();
        Bth.put(at, opcode, 0, length, number, 0);
        Deth.put(at, key, NOBODY);
        NativeMemory.clear(at + RoceOpcode.headerLength(opcode), length);
        RocePacket.putPad(at, opcode, length);
        from.send(RocePacket.length(opcode, length));
    }

    @Test
    void shouldTakeDatagramsOfAnyHostAndSayOfWhich() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair queuePair = unconnected(ends.passive, QueuePairType.UNRELIABLE_DATAGRAM);
                RawRocePeer stranger = stranger("127.0.0.2", queuePair)) {
            queuePair.postReceive(1, ends.passive.region, 0, 64);
            sendDatagram(stranger, queuePair.number(), KEY + 1, 3);
            until(() -> ends.passive.counter("roce.wrongQueueKey") == 1, "a datagram with another key is counted");
            sendDatagram(stranger, queuePair.number(), KEY, 30);
            until(() -> ends.passive.counter("roce.tooLong") == 1, "a datagram that is too long is counted");
            sendDatagram(stranger, queuePair.number(), KEY, 3);
            WorkCompletion received = ends.passive.next();
            assertEquals(RoutingHeader.LENGTH + 3, received.byteLength());
            assertEquals(NOBODY, received.sourceNumber());
            assertEquals(InetAddress.ofLiteral("127.0.0.2"), RoutingHeader.source(ends.passive.memory));
            assertEquals(InetAddress.ofLiteral("127.0.0.1"), RoutingHeader.destination(ends.passive.memory));
            sendDatagram(stranger, queuePair.number(), KEY, 3);
            until(() -> ends.passive.counter("roce.noReceive") == 1, "a datagram without a RECV is counted");
            assertEquals(QueuePairState.READY_TO_SEND, queuePair.state());
        }
    }

    @Test
    void shouldSendItsOwnKeyForANegativeOne() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.UNRELIABLE_DATAGRAM);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.UNRELIABLE_DATAGRAM);
                AddressHandle host =
                        ends.active.domain.createAddressHandle(to.address().host())) {
            to.postReceive(1, ends.passive.region, 0, 64);
            from.postSendTo(2, ends.active.region, 0, 3, host, to.number(), 1 << 31, SendFlags.NONE);
            assertEquals(RoutingHeader.LENGTH + 3, ends.passive.next().byteLength());
        }
    }

    @Test
    void shouldRefuseAHandleThatIsClosedOrOfAnotherDomain() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair pair = unconnected(ends.active, QueuePairType.UNRELIABLE_DATAGRAM);
                ProtectionDomain other = ends.active.device.allocateProtectionDomain();
                AddressHandle elsewhere =
                        other.createAddressHandle(pair.address().host())) {
            AddressHandle closed =
                    ends.active.domain.createAddressHandle(pair.address().host());
            closed.close();
            int number = pair.number();
            assertThrows(
                    IllegalStateException.class,
                    () -> pair.postSendTo(1, ends.active.region, 0, 1, closed, number, KEY, SendFlags.NONE));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.postSendTo(1, ends.active.region, 0, 1, elsewhere, number, KEY, SendFlags.NONE));
        }
    }

    @Test
    void shouldCarryDatagramsOverIpv6() throws Exception {
        Assumptions.assumeTrue(
                NetworkInterface.getByInetAddress(InetAddress.ofLiteral("::1")) != null, "this host has no IPv6");
        try (RoceEnds ends = new RoceEnds("epoll", Map.of("roce-address", "::1"));
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.UNRELIABLE_DATAGRAM);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.UNRELIABLE_DATAGRAM);
                AddressHandle host =
                        ends.active.domain.createAddressHandle(to.address().host())) {
            to.postReceive(1, ends.passive.region, 0, 64);
            ends.active.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 77);
            from.postSendTo(2, ends.active.region, 0, 1, host, to.number(), KEY, SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertEquals(RoutingHeader.LENGTH + 1, ends.passive.next().byteLength());
            assertEquals(77, ends.passive.memory.get(ValueLayout.JAVA_BYTE, RoutingHeader.LENGTH));
            assertEquals(InetAddress.ofLiteral("::1"), RoutingHeader.source(ends.passive.memory));
            assertThrows(IllegalArgumentException.class, () -> ends.active.domain.createAddressHandle(at("127.0.0.1")));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = QueuePairType.class,
            names = {"RELIABLE_CONNECTION", "UNRELIABLE_CONNECTION"})
    void shouldDropPacketsOfAnotherHostThanThePeers(QueuePairType type) throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, type);
                UnconnectedQueuePair to = unconnected(ends.passive, type);
                RawRocePeer stranger = stranger("127.0.0.2", to)) {
            to.connect(from.address(), 1, 1);
            from.connect(to.address(), 1, 1);
            to.postReceive(1, ends.passive.region, 0, 64);
            int transport = type == QueuePairType.RELIABLE_CONNECTION ? RoceOpcode.RC : RoceOpcode.UC;
            int opcode = transport | RoceOpcode.SEND_ONLY;
            Bth.put(stranger.packet(), opcode, 0, 0, to.number(), from.address().sequence());
            stranger.send(RocePacket.length(opcode, 0));
            until(() -> ends.passive.counter("roce.foreignSource") == 1, "a stranger's packet is counted");
            sendDatagram(stranger, to.number(), KEY, 3);
            until(() -> ends.passive.counter("roce.wrongTransport") == 1, "a datagram for a connection is counted");
            from.postSend(2, ends.active.region, 0, 5, SendFlags.SIGNALLED);
            assertEquals(5, ends.passive.next().byteLength());
        }
    }

    /** A raw peer as the application that has exchanged addresses would know it. */
    private static QueuePairAddress addressOf(RawRocePeer peer, int sequence) {
        return new QueuePairAddress(
                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), peer.port()),
                RawRocePeer.QUEUE_PAIR,
                sequence,
                1024);
    }

    /** As a SEND comes that the peer began as soon as it knew of this side. */
    @Test
    void shouldAnswerBeforeItIsReadyToSendAndByTheTimerOfItsOwner() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair pair = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION);
                RawRocePeer peer = stranger("127.0.0.1", pair)) {
            int timer = 23;
            pair.readyToReceive(ReceiveAttributes.of(addressOf(peer, 7), 1).withReceiverNotReadyTimer(timer));
            int opcode = RoceOpcode.RC | RoceOpcode.SEND_ONLY;
            Bth.put(peer.packet(), opcode, 0, 0, pair.number(), 7);
            peer.send(RocePacket.length(opcode, 0));
            assertEquals(Aeth.receiverNotReady(timer), peer.next()[Bth.LENGTH]);
            assertEquals(QueuePairState.READY_TO_RECEIVE, pair.state());
            assertThrows(
                    IllegalStateException.class, () -> pair.postSend(1, ends.passive.region, 0, 5, SendFlags.NONE));
        }
    }

    /** The peer has moved: packets go there, those of its old place are dropped, and the terms are the new ones. */
    @Test
    void shouldGoOnWithItsPeerAtAnotherPlaceByOtherTerms() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair pair = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION);
                RawRocePeer before = stranger("127.0.0.1", pair);
                RawRocePeer after = stranger("127.0.0.2", pair)) {
            SendAttributes forEver = SendAttributes.ofReads(0).withTimeout(0, 0);
            pair.readyToReceive(ReceiveAttributes.of(addressOf(before, 7), 0).withReceiverNotReadyTimer(23));
            pair.readyToSend(forEver.withSequence(100));
            SoftRdmaDevice device = (SoftRdmaDevice) ends.passive.device;
            ReceiveAttributes there = ReceiveAttributes.of(
                            new QueuePairAddress(
                                    new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), after.port()),
                                    1,
                                    1,
                                    1024),
                            3)
                    .withReceiverNotReadyTimer(5);
            device.change(pair, there, forEver);
            assertEquals(OptionalInt.of(3), pair.connectionCapabilities().maxInboundReads());
            int opcode = RoceOpcode.RC | RoceOpcode.SEND_ONLY;
            Bth.put(before.packet(), opcode, 0, 0, pair.number(), 7);
            before.send(RocePacket.length(opcode, 0));
            until(() -> ends.passive.counter("roce.foreignSource") == 1, "a packet from the old place is counted");
            Bth.put(after.packet(), opcode, 0, 0, pair.number(), 7);
            after.send(RocePacket.length(opcode, 0));
            assertEquals(Aeth.receiverNotReady(5), after.next()[Bth.LENGTH]);
            accept(pair.postSend(1, ends.passive.region, 0, 5, SendFlags.NONE));
            assertEquals(opcode, after.next()[0] & 0xFF);
            pair.drain();
            assertTrue(pair.isDraining());
            device.change(pair, there, SendAttributes.ofReads(1).withTimeout(8, 0));
            expectFailed(1, CompletionStatus.RETRY_EXCEEDED_ERROR, ends.passive);
        }
    }

    @Test
    void shouldGoOnWithAnUnreliablePeerAtAnotherPlace() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair pair = unconnected(ends.passive, QueuePairType.UNRELIABLE_CONNECTION);
                RawRocePeer before = stranger("127.0.0.1", pair);
                RawRocePeer after = stranger("127.0.0.1", pair)) {
            pair.connect(addressOf(before, 7), 0, 0);
            ((SoftRdmaDevice) ends.passive.device)
                    .change(pair, ReceiveAttributes.of(addressOf(after, 7), 0), SendAttributes.ofReads(0));
            accept(pair.postSend(1, ends.passive.region, 0, 5, SendFlags.NONE));
            assertEquals(RoceOpcode.UC | RoceOpcode.SEND_ONLY, after.next()[0] & 0xFF);
        }
    }

    @Test
    void shouldRefuseOtherTermsWithoutAPeerOrOfAnotherFamily() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair pair = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
            SoftRdmaDevice device = (SoftRdmaDevice) ends.passive.device;
            SendAttributes sends = SendAttributes.ofReads(1);
            ReceiveAttributes here = ReceiveAttributes.of(pair.address(), 1);
            assertThrows(IllegalStateException.class, () -> device.change(pair, here, sends));
            pair.connect(pair.address(), 1, 1);
            ReceiveAttributes other = ReceiveAttributes.of(
                    new QueuePairAddress(new InetSocketAddress(InetAddress.ofLiteral("::1"), 4791), 1, 1, 1024), 1);
            assertThrows(IllegalArgumentException.class, () -> device.change(pair, other, sends));
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = QueuePairType.class,
            names = {"RELIABLE_CONNECTION", "UNRELIABLE_CONNECTION"})
    void shouldBeginWithTheSequenceOfItsOwner(QueuePairType type) throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair pair = unconnected(ends.passive, type);
                RawRocePeer peer = stranger("127.0.0.1", pair)) {
            pair.readyToReceive(ReceiveAttributes.of(addressOf(peer, 7), 1));
            pair.readyToSend(SendAttributes.ofReads(1).withSequence(0xABCDEF));
            pair.postSend(1, ends.passive.region, 0, 5, SendFlags.NONE);
            byte[] packet = peer.next();
            assertArrayEquals(
                    new byte[] {(byte) 0xAB, (byte) 0xCD, (byte) 0xEF},
                    Arrays.copyOfRange(packet, Bth.LENGTH - 3, Bth.LENGTH));
        }
    }

    @Test
    void shouldGiveUpASilentPeerWhenItsOwnerSays() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair pair = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                RawRocePeer peer = stranger("127.0.0.1", pair)) {
            pair.readyToReceive(ReceiveAttributes.of(addressOf(peer, 7), 1));
            pair.readyToSend(SendAttributes.ofReads(1).withTimeout(8, 0));
            pair.postSend(1, ends.active.region, 0, 5, SendFlags.NONE);
            assertEquals(
                    CompletionStatus.RETRY_EXCEEDED_ERROR, ends.active.next().status());
            assertEquals(0, ends.active.counter("roce.retransmitted"));
        }
    }

    @Test
    void shouldGiveUpAPeerWithoutARecvWhenItsOwnerSays() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
            to.readyToReceive(ReceiveAttributes.of(from.address(), 1));
            from.readyToReceive(ReceiveAttributes.of(to.address(), 1));
            from.readyToSend(SendAttributes.ofReads(1).withReceiverNotReadyRetries(0));
            from.postSend(1, ends.active.region, 0, 5, SendFlags.NONE);
            assertEquals(
                    CompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED_ERROR,
                    ends.active.next().status());
        }
    }

    /** By addresses and by the connection manager: packets come from where they are expected, the interface included. */
    @Test
    void shouldConnectAtALinkLocalAddress() throws Exception {
        Optional<InetAddress> linkLocal = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet6Address && address.isLinkLocalAddress())
                .findFirst();
        Assumptions.assumeTrue(linkLocal.isPresent(), "this host has no link-local address");
        InetAddress own = linkLocal.orElseThrow();
        try (RoceEnds ends = new RoceEnds("epoll", Map.of("roce-address", own.getHostAddress())).listenAt(own);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
            to.connect(from.address(), 1, 1);
            from.connect(to.address(), 1, 1);
            to.postReceive(1, ends.passive.region, 0, 64);
            from.postSend(2, ends.active.region, 0, 5, SendFlags.NONE);
            assertEquals(5, ends.passive.next().byteLength());
            ends.connect();
            ends.passive.pair().postReceive(3, ends.passive.region, 0, 64);
            ends.active.pair().postSend(4, ends.active.region, 0, 6, SendFlags.NONE);
            assertEquals(6, ends.passive.next().byteLength());
        }
    }

    @Test
    void shouldRefuseToConnectWhatCannotTalk() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair one = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION)) {
            QueuePairAddress elsewhere = new QueuePairAddress(at("::1"), 5, 6, 1024);
            assertThrows(IllegalArgumentException.class, () -> one.connect(elsewhere, 1, 1));
            assertEquals(QueuePairState.INITIAL, one.state());
        }
    }

    /** Of so many packets that the last one is short. */
    @ParameterizedTest
    @ValueSource(ints = {256, 512})
    void shouldTalkInSmallPackets(int unit) {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
            to.connect(inUnits(from.address(), unit), 4, 4);
            from.connect(inUnits(to.address(), unit), 4, 4);
            for (int i = 0; i < LENGTH; i++) {
                ends.active.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
            }
            to.postReceive(1, ends.passive.region, 0, LENGTH);
            from.postSend(2, ends.active.region, 0, LENGTH, SendFlags.SIGNALLED);
            assertEquals(LENGTH, ends.passive.next().byteLength());
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertEquals(-1, ends.active.memory.asSlice(0, LENGTH).mismatch(ends.passive.memory.asSlice(0, LENGTH)));
            ends.active.memory.asSlice(0, LENGTH).fill((byte) 0);
            from.postRead(
                    3,
                    ends.active.region,
                    0,
                    LENGTH,
                    ends.passive.region.address(),
                    ends.passive.region.rkey(),
                    SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertEquals(-1, ends.active.memory.asSlice(0, LENGTH).mismatch(ends.passive.memory.asSlice(0, LENGTH)));
        }
    }

    private static QueuePairAddress inUnits(QueuePairAddress address, int unit) {
        return new QueuePairAddress(address.host(), address.number(), address.sequence(), unit);
    }

    /** The answer is of more packets than a piece, and ends in the middle of one. */
    @Test
    void shouldReadIntoPieces() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = ends.active.domain.createQueuePair(new QueuePairAttributes(
                        ends.active.queue, ends.active.queue, new QueuePairLimits(8, 8, 3, 1, 0), false));
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
            to.connect(inUnits(from.address(), 256), 4, 4);
            from.connect(inUnits(to.address(), 256), 4, 4);
            for (int i = 0; i < LENGTH; i++) {
                ends.passive.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
            }
            SendWorkRequest read = new SendWorkRequest()
                    .read(1, ends.passive.region.address(), ends.passive.region.rkey(), SendFlags.SIGNALLED)
                    .add(ends.active.region, 2_000, 300)
                    .add(ends.active.region, 1_000, 0)
                    .add(ends.active.region, 0, LENGTH - 300);
            assertEquals(PostStatus.ACCEPTED, from.post(read));
            assertEquals(CompletionStatus.SUCCESS, ends.active.next().status());
            assertEquals(-1, ends.active.memory.asSlice(2_000, 300).mismatch(ends.passive.memory.asSlice(0, 300)));
            assertEquals(
                    -1,
                    ends.active
                            .memory
                            .asSlice(0, LENGTH - 300)
                            .mismatch(ends.passive.memory.asSlice(300, LENGTH - 300)));
        }
    }

    /** Datagrams leave the address that a handle names, in the order in which they were posted, and come to any. */
    @Test
    void shouldSendDatagramsFromSeveralAddresses() throws Exception {
        InetAddress other = InetAddress.ofLiteral("127.0.0.2");
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.UNRELIABLE_DATAGRAM);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.UNRELIABLE_DATAGRAM)) {
            SoftRdmaDevice device = (SoftRdmaDevice) ends.active.device;
            InetSocketAddress there = to.address().host();
            ProtectionDomain domain = ends.active.domain;
            try (AddressHandle here = device.createAddressHandle(domain, InetAddress.ofLiteral("127.0.0.1"), there);
                    AddressHandle second = device.createAddressHandle(domain, other, there)) {
                assertThrows(IllegalArgumentException.class, () -> post(from, ends, second, to.number()));
                from.reset();
                device.alsoUseAddress(from, other);
                from.initialise(Set.of());
                for (int i = 0; i < 4; i++) {
                    to.postReceive(i, ends.passive.region, 64L * i, 64);
                }
                for (AddressHandle each : List.of(here, second, second, here)) {
                    post(from, ends, each, to.number());
                }
                for (int i = 0; i < 4; i++) {
                    assertEquals(i, ends.passive.next().wrId());
                    assertEquals(
                            i == 1 || i == 2 ? other : InetAddress.ofLiteral("127.0.0.1"),
                            RoutingHeader.source(ends.passive.memory.asSlice(64L * i)));
                }
            }
        }
    }

    private static void post(UnconnectedQueuePair from, RoceEnds ends, AddressHandle handle, int number) {
        from.postSendTo(1, ends.active.region, 0, 3, handle, number, KEY, SendFlags.NONE);
    }

    @Test
    void shouldSayWhatIsWrongWithTheAddressOfADevice() {
        try (RoceEnds.Side side = new RoceEnds.Side(Map.of("wire", "roce", "roce-address", "192.0.2.7"))) {
            VerbsException refused =
                    assertThrows(VerbsException.class, () -> unconnected(side, QueuePairType.UNRELIABLE_DATAGRAM));
            assertEquals(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, refused.code(), refused.getMessage());
            assertTrue(String.valueOf(refused.getMessage()).contains("192.0.2.7"), refused::getMessage);
        }
        for (String wrong : List.of("localhost", "0.0.0.0", "::", "224.0.0.1", "")) {
            IllegalArgumentException noAddress = assertThrows(
                    IllegalArgumentException.class,
                    () -> new SoftRdmaProvider().open(Map.of("wire", "roce", "roce-address", wrong)));
            assertTrue(String.valueOf(noAddress.getMessage()).contains("an IP address"), noAddress::getMessage);
        }
    }

    /** As is usual: nobody has to say which address it is. */
    @Test
    void shouldFindAnAddressOfThisHostByItself() {
        try (RoceEnds ends = new RoceEnds("epoll", Map.of());
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.UNRELIABLE_DATAGRAM);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.UNRELIABLE_DATAGRAM);
                AddressHandle host =
                        ends.active.domain.createAddressHandle(to.address().host())) {
            assertFalse(to.address().host().getAddress().isAnyLocalAddress());
            to.postReceive(1, ends.passive.region, 0, 64);
            from.postSendTo(2, ends.active.region, 0, 3, host, to.number(), KEY, SendFlags.NONE);
            assertEquals(RoutingHeader.LENGTH + 3, ends.passive.next().byteLength());
        }
    }

    @Test
    void shouldSayWhichWireHasThemWhereThereAreNone() {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain()) {
            assertFalse(device.capabilities().has(Feature.UNRELIABLE_DATAGRAM));
            VerbsException refused =
                    assertThrows(VerbsException.class, () -> domain.createAddressHandle(at("127.0.0.1")));
            assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
            assertTrue(String.valueOf(refused.getMessage()).contains("wire=roce"), refused::getMessage);
        }
    }
}
