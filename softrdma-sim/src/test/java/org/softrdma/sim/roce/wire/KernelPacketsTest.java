package org.softrdma.sim.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import java.util.function.ObjLongConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.memory.NativeMemory;

/** 44 packets of a kernel: decoded, encoded again to the byte, and damaged. */
class KernelPacketsTest {
    private static final int PACKETS = 44;

    /** Bytes of the IP header, and their bits, that routers may change. */
    private static final List<Integer> IPV4_MASKED = List.of(1, 8, 10, 11);

    private static final int IDENTIFICATION = 4;

    private static final List<Integer> IPV6_MASKED = List.of(1, 2, 3, 7);

    static List<Named<CapturedPacket>> packets() {
        return CapturedPacket.all("golden.txt");
    }

    static List<Named<CapturedPacket>> managementPackets() {
        return packets().stream()
                .filter(packet -> Bth.destination(packet.getPayload().address()) == Mad.QUEUE_PAIR)
                .toList();
    }

    @Test
    void shouldHaveAllPackets() {
        assertEquals(PACKETS, packets().size());
        assertEquals(9, managementPackets().size());
    }

    @ParameterizedTest
    @MethodSource("packets")
    void shouldDecodeAndEncodeToTheByte(CapturedPacket captured) {
        assertEquals(PacketCheck.VALID, RocePacket.check(captured.address(), captured.length()));
        assertTrue(Bth.isOfDefaultPartition(captured.address()));
        assertEquals(captured.hex(), PacketFields.write(PacketFields.read(captured), captured.header()));
    }

    @ParameterizedTest
    @MethodSource("packets")
    void shouldFindTheIdentificationInTheIcrc(CapturedPacket captured) {
        PseudoHeader header = captured.header();
        int carried = RocePacket.icrc(captured.address(), captured.length());
        if (captured.isIpv4()) {
            header.identification(0);
            int computed = captured.icrc(header);
            assertEquals(captured.identification(), Icrc.identification(carried, computed, captured.length()));
        } else {
            assertEquals(captured.icrc(header), carried);
        }
    }

    @ParameterizedTest
    @MethodSource("packets")
    void shouldCoverTheHeadersButForWhatRoutersAndKernelsChange(CapturedPacket captured) {
        PseudoHeader header = captured.header();
        byte[] expected = captured.headers();
        for (int index : captured.isIpv4() ? IPV4_MASKED : IPV6_MASKED) {
            expected[index] = (byte) 0xFF;
        }
        if (captured.isIpv4()) {
            Arrays.fill(expected, IDENTIFICATION, IDENTIFICATION + Short.BYTES, (byte) 0); // is added for itself
        } else {
            expected[0] |= 0x0F;
        }
        expected[expected.length - 2] = (byte) 0xFF; // UDP checksum
        expected[expected.length - 1] = (byte) 0xFF;
        assertEquals(
                "ff".repeat(8) + HexFormat.of().formatHex(expected),
                HexFormat.of().formatHex(header.bytes(captured.length())));
    }

    @ParameterizedTest
    @MethodSource("packets")
    void shouldRefuseEveryFlippedBitButThoseOfCongestion(CapturedPacket captured) {
        TreeSet<Integer> unnoticed = new TreeSet<>();
        for (int bit = 0; bit < captured.length() * Byte.SIZE; bit++) {
            captured.flip(bit);
            int carried = RocePacket.icrc(captured.address(), captured.length());
            if (captured.icrc(captured.header()) == carried) {
                unnoticed.add(bit);
            }
            captured.flip(bit);
        }
        TreeSet<Integer> congestion = new TreeSet<>();
        for (int bit = 0; bit < Byte.SIZE; bit++) {
            congestion.add(Bth.CONGESTION_OFFSET * Byte.SIZE + bit);
        }
        assertEquals(congestion, unnoticed);
    }

    @ParameterizedTest
    @MethodSource("packets")
    void shouldFindNoIdentificationInADamagedPacket(CapturedPacket captured) {
        if (!captured.isIpv4()) {
            return;
        }
        PseudoHeader header = captured.header();
        header.identification(0);
        for (int bit = 0; bit < captured.length() * Byte.SIZE; bit++) {
            captured.flip(bit);
            int carried = RocePacket.icrc(captured.address(), captured.length());
            int found = Icrc.identification(carried, captured.icrc(header), captured.length());
            boolean congestion = bit / Byte.SIZE == Bth.CONGESTION_OFFSET;
            assertEquals(congestion ? captured.identification() : Icrc.NONE, found, "bit " + bit);
            captured.flip(bit);
        }
    }

    @ParameterizedTest
    @MethodSource("managementPackets")
    void shouldDecodeAndEncodeTheConnectionManagersMessages(CapturedPacket captured) {
        long mad = captured.address() + RoceOpcode.headerLength(RoceOpcode.UD | RoceOpcode.SEND_ONLY);
        assertTrue(Mad.isValid(mad, RocePacket.payloadLength(captured.address(), captured.length())));
        assertEquals(Mad.QUEUE_KEY, Deth.queueKey(captured.address()));
        MemorySegment copy = Arena.ofAuto().allocate(Mad.LENGTH, Long.BYTES);
        copy.fill((byte) 0xEE);
        writer(mad).accept(copy, Mad.transaction(mad));
        assertEquals(hex(mad), hex(copy.address()));
    }

    private static String hex(long mad) {
        return HexFormat.of().formatHex(NativeMemory.bytes(mad, Mad.LENGTH));
    }

    /** Reads a message into what the project has for it, and writes that. */
    private static ObjLongConsumer<MemorySegment> writer(long mad) {
        CmIds ids = CmIds.read(mad);
        return (to, transaction) -> {
            switch (Mad.attribute(mad)) {
                case Mad.CONNECT_REQUEST -> ConnectRequest.read(mad).write(to.address(), transaction);
                case Mad.CONNECT_REPLY -> ConnectReply.read(mad).write(to.address(), transaction);
                case Mad.CONNECT_REJECT -> ConnectReject.read(mad).write(to.address(), transaction);
                case Mad.READY_TO_USE -> ids.writeReadyToUse(to.address(), transaction);
                case Mad.DISCONNECT_REQUEST ->
                    ids.writeDisconnectRequest(to.address(), transaction, CmIds.queuePair(mad));
                case Mad.DISCONNECT_REPLY -> ids.writeDisconnectReply(to.address(), transaction);
                case Mad.SERVICE_REQUEST -> ServiceRequest.read(mad).write(to.address(), transaction);
                case Mad.SERVICE_REPLY -> ServiceReply.read(mad).write(to.address(), transaction);
                default -> throw new AssertionError("attribute " + Mad.attribute(mad));
            }
        };
    }

    @Test
    void shouldReadWhatRpingAsksFor() throws UnknownHostException {
        CapturedPacket captured = packets().getFirst().getPayload();
        long mad = captured.address() + RoceOpcode.headerLength(RoceOpcode.UD | RoceOpcode.SEND_ONLY);
        ConnectRequest request = ConnectRequest.read(mad);
        CmEndpoint endpoint =
                new CmEndpoint(0xc101246a, 0xfffe000901L, 0x13, 16150187, 1, 1, false, 7, false, 0, false);
        assertEquals(endpoint, request.endpoint());
        assertEquals(AddressHeader.serviceId(AddressHeader.PORT_SPACE_TCP, 7174), request.serviceId());
        assertEquals(7174, AddressHeader.port(request.serviceId()));
        assertEquals(AddressHeader.PORT_SPACE_TCP, AddressHeader.portSpace(request.serviceId()));
        assertEquals(ConnectRequest.RELIABLE, request.transport());
        assertEquals(7, request.retries());
        assertEquals(5, request.pathMtu());
        assertEquals(20, request.remoteTimeout());
        assertEquals(20, request.localTimeout());
        assertEquals(15, request.cmRetries());
        assertEquals(Bth.DEFAULT_PARTITION, request.partitionKey());
        Gid local = Gid.of(InetAddress.getByName("10.9.0.11"));
        Gid remote = Gid.of(InetAddress.getByName("10.9.0.1"));
        assertEquals(new CmPath(local, remote, 20038, 0, 0, 64, 19), request.path());
        assertTrue(AddressHeader.isIn(request.privateData()));
        AddressHeader header = AddressHeader.read(request.privateData());
        assertEquals(new AddressHeader(34240, local, remote), header);
        assertEquals(InetAddress.getByName("10.9.0.11"), header.source().address());
        byte[] rest = new byte[ConnectRequest.PRIVATE_LENGTH - AddressHeader.LENGTH];
        assertEquals(request.privateData(), header.with(PrivateData.of(rest)));
    }

    /** A kernel's application sees the private data that this side's has given, and nothing else. */
    @Test
    void shouldTellWhatASocketHoldsWhereNoKernelLooks() {
        CapturedPacket captured = packets().getFirst().getPayload();
        long mad = captured.address() + RoceOpcode.headerLength(RoceOpcode.UD | RoceOpcode.SEND_ONLY);
        ConnectRequest request = ConnectRequest.read(mad);
        ConnectRequest telling = request.from(holding(request.endpoint(), 0x123456));
        ConnectReply reply = new ConnectReply(request.endpoint(), 3, 15, 0, PrivateData.of(new byte[] {1, 2, 3}));
        ConnectReply tellingReply =
                new ConnectReply(telling.endpoint(), 3, 15, 0, PrivateData.of(new byte[] {1, 2, 3}));
        MemorySegment without = Arena.ofAuto().allocate(Mad.LENGTH);
        MemorySegment with = Arena.ofAuto().allocate(Mad.LENGTH);
        request.write(without.address(), 1);
        telling.write(with.address(), 1);
        assertEquals(List.of(36, 37, 38), differences(without, with)); // the local EE context's number
        assertEquals(telling, ConnectRequest.read(with.address()));
        reply.write(without.address(), 1);
        tellingReply.write(with.address(), 1);
        assertEquals(List.of(16, 17, 18), differences(without, with));
        assertEquals(tellingReply.endpoint(), ConnectReply.read(with.address()).endpoint());
    }

    private static CmEndpoint holding(CmEndpoint one, int packets) {
        return new CmEndpoint(
                one.communicationId(),
                one.guid(),
                one.queuePair(),
                one.startingPsn(),
                one.responderResources(),
                one.initiatorDepth(),
                one.flowControl(),
                one.rnrRetries(),
                one.sharedReceiveQueue(),
                packets,
                /* manualProgress= */ true);
    }

    /** Offsets in a message's data. */
    private static List<Integer> differences(MemorySegment one, MemorySegment other) {
        return IntStream.range(0, Mad.LENGTH)
                .filter(i -> one.get(ValueLayout.JAVA_BYTE, i) != other.get(ValueLayout.JAVA_BYTE, i))
                .map(i -> i - Mad.DATA_OFFSET)
                .boxed()
                .toList();
    }

    @Test
    void shouldReadAnAddressHeaderOverIpv6() {
        CapturedPacket captured = packets().getLast().getPayload();
        long mad = captured.address() + RoceOpcode.headerLength(RoceOpcode.UD | RoceOpcode.SEND_ONLY);
        ConnectRequest request = ConnectRequest.read(mad);
        AddressHeader header = AddressHeader.read(request.privateData());
        assertEquals(request.path().local(), header.source());
        assertEquals(request.path().remote(), header.destination());
        byte[] rest = new byte[ConnectRequest.PRIVATE_LENGTH - AddressHeader.LENGTH];
        assertEquals(request.privateData(), header.with(PrivateData.of(rest)));
    }
}
