package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.PeerAddress;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Deth;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.RoutingHeader;

/** The headers in front of datagrams, to the byte; the one of IPv4 is what SoftRoCE of Linux 6.1 gave for such a datagram. */
class RoutingHeaderWriterTest {
    private static final int OPCODE = RoceOpcode.UD | RoceOpcode.SEND_ONLY;
    /** Total length 0x98: 20 of IP, 8 of UDP, 12 of the BTH, 8 of the DETH, 4 of the ICRC. */
    private static final int PAYLOAD = 0x98 - 20 - 8 - 12 - 8 - 4;

    private static final int PORT = 4791;

    private final MemoryOperations operations = new MemoryOperations();
    private final PacketMemory memory = new PacketMemory(operations, RocePacket.MAX_LENGTH);
    private final Icrc icrc = new Icrc();

    /** The header of a datagram that was sent with an identification. */
    private byte[] header(String from, String to, int identification) {
        Gid here = Gid.of(InetAddress.ofLiteral(to));
        Gid there = Gid.of(InetAddress.ofLiteral(from));
        RocePath path = new RocePath(there, PORT, new CmPeer(here, PORT), 0);
        int length = RocePacket.length(OPCODE, PAYLOAD);
        Bth.put(memory.address(), OPCODE, 0, PAYLOAD, 17, 3);
        Deth.put(memory.address(), 5, 18);
        RocePacket.putIcrc(memory.address(), length, path.seal(icrc, memory, memory.address(), length, identification));
        Arrival arrival = new Arrival(InetAddress.ofLiteral(to), PORT);
        PeerAddress sender = PeerAddress.of(new InetSocketAddress(InetAddress.ofLiteral(from), PORT));
        assertTrue(arrival.isIntact(icrc, memory, memory.address(), length, 0, sender));
        return NativeMemory.bytes(new RoutingHeaderWriter(operations).write(arrival, length), RoutingHeader.LENGTH);
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    @Test
    void shouldWriteTheHeaderOfIpv4AsItCame() throws Exception {
        byte[] header = header("10.9.0.1", "10.9.0.11", 0);
        assertEquals("00".repeat(20) + "4500009800004000401126380a0900010a09000b", hex(header));
        MemorySegment buffer = MemorySegment.ofArray(header);
        assertEquals(InetAddress.ofLiteral("10.9.0.1"), RoutingHeader.source(buffer));
        assertEquals(InetAddress.ofLiteral("10.9.0.11"), RoutingHeader.destination(buffer));
    }

    /** A socket does not show it, but the ICRC covers it. */
    @Test
    void shouldKnowTheIdentificationThatNoSocketShows() {
        byte[] header = header("10.9.0.1", "10.9.0.11", 0xBEEF);
        assertEquals("00".repeat(20) + "45000098beef4000401167480a0900010a09000b", hex(header));
    }

    @Test
    void shouldWriteTheHeaderOfIpv6() {
        byte[] header = header("fd00::1", "fd00::b", 0);
        assertEquals(
                "60000000" + "0084" + "1140" + "fd000000000000000000000000000001" + "fd00000000000000000000000000000b",
                hex(header));
    }

    @Test
    void shouldRefuseAPacketThatAnotherHostHasSealed() {
        byte[] ignored = header("10.9.0.1", "10.9.0.11", 0);
        assertEquals(RoutingHeader.LENGTH, ignored.length);
        Arrival arrival = new Arrival(InetAddress.ofLiteral("10.9.0.11"), PORT);
        PeerAddress other = PeerAddress.of(new InetSocketAddress(InetAddress.ofLiteral("10.9.0.2"), PORT));
        int length = RocePacket.length(OPCODE, PAYLOAD);
        assertFalse(arrival.isIntact(icrc, memory, memory.address(), length, 0, other));
    }
}
