package org.softrdma.sim.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.memory.NativeMemory;

/** What the first look at a packet refuses: every length that its opcode does not allow, and what nobody here speaks. */
class RocePacketTest {
    private static final int TOO_LONG = 64;

    private final MemorySegment memory = Arena.ofAuto().allocate(RocePacket.MAX_LENGTH + TOO_LONG, Long.BYTES);
    private final long packet = memory.address();

    static IntStream knownOpcodes() {
        return IntStream.range(0, 256).filter(RoceOpcode::isKnown);
    }

    @Test
    void shouldKnowTheOpcodesOfThreeTransportsAndOfCongestion() {
        assertEquals(23 + 12 + 2 + 1, knownOpcodes().count());
    }

    @ParameterizedTest
    @MethodSource("knownOpcodes")
    void shouldTakeJustTheLengthsThatAnOpcodeAllows(int opcode) {
        int headers = RoceOpcode.headerLength(opcode);
        int longest = RoceOpcode.carriesPayload(opcode) ? RocePacket.MAX_TRANSFER_UNIT : 0;
        for (int length = 0; length <= memory.byteSize(); length++) {
            for (int pad = 0; pad < 4; pad++) {
                Bth.put(packet, opcode, 0, -pad & 3, 1, 2);
                assertEquals(pad, Bth.padCount(packet));
                int payload = length - headers - pad - RocePacket.ICRC_LENGTH;
                boolean allowed = payload >= 0 && payload <= longest && (payload + pad) % 4 == 0;
                PacketCheck expected = length < headers + RocePacket.ICRC_LENGTH
                        ? PacketCheck.TOO_SHORT
                        : allowed ? PacketCheck.VALID : PacketCheck.WRONG_LENGTH;
                assertEquals(expected, RocePacket.check(packet, length), length + " bytes, pad " + pad);
                if (allowed) {
                    assertEquals(payload, RocePacket.payloadLength(packet, length));
                    assertEquals(length, RocePacket.length(opcode, payload));
                }
            }
        }
    }

    @Test
    void shouldRefuseUnknownOpcodes() {
        IntStream.range(0, 256).filter(opcode -> !RoceOpcode.isKnown(opcode)).forEach(opcode -> {
            Bth.put(packet, opcode, 0, 0, 1, 2);
            assertEquals(PacketCheck.UNKNOWN_OPCODE, RocePacket.check(packet, 64));
        });
    }

    @Test
    void shouldRefuseOtherVersionsOfTheTransport() {
        for (int version = 1; version < 16; version++) {
            Bth.put(packet, RoceOpcode.SEND_ONLY, version, 0, 1, 2);
            assertEquals(PacketCheck.WRONG_VERSION, RocePacket.check(packet, 64));
        }
    }

    @Test
    void shouldTellOnePartitionFromOthers() {
        Bth.put(packet, RoceOpcode.SEND_ONLY, 0, 0, 1, 2);
        assertTrue(Bth.isOfDefaultPartition(packet));
        NativeMemory.putShort(packet + Bth.PARTITION_KEY_OFFSET, 0x7FFF); // a limited member of the default partition
        assertTrue(Bth.isOfDefaultPartition(packet));
        NativeMemory.putShort(packet + Bth.PARTITION_KEY_OFFSET, 0xFFFE);
        assertFalse(Bth.isOfDefaultPartition(packet));
    }

    @Test
    void shouldTellCongestion() {
        Bth.put(packet, RoceOpcode.SEND_ONLY, 0, 0, 0xFFFFFF, 2);
        assertFalse(Bth.hasForwardCongestion(packet) || Bth.hasBackwardCongestion(packet));
        NativeMemory.putByte(packet + Bth.CONGESTION_OFFSET, 0x80);
        assertTrue(Bth.hasForwardCongestion(packet) && !Bth.hasBackwardCongestion(packet));
        NativeMemory.putByte(packet + Bth.CONGESTION_OFFSET, 0x40);
        assertTrue(!Bth.hasForwardCongestion(packet) && Bth.hasBackwardCongestion(packet));
        assertEquals(0xFFFFFF, Bth.destination(packet));
    }

    @Test
    void shouldNotTakeOtherManagementDatagrams() {
        Mad.put(packet, Mad.CONNECT_REQUEST, 1);
        assertTrue(Mad.isValid(packet, Mad.LENGTH));
        assertFalse(Mad.isValid(packet, Mad.LENGTH - 4));
        for (int bit = 0; bit < Integer.SIZE; bit++) {
            Mad.put(packet, Mad.CONNECT_REQUEST, 1);
            NativeMemory.putInt(packet, NativeMemory.getInt(packet) ^ 1 << bit);
            assertFalse(Mad.isValid(packet, Mad.LENGTH));
        }
    }

    @Test
    void shouldCutInformationThatClaimsToBeLongerThanItsField() {
        PrivateData information = PrivateData.of(new byte[ConnectReject.INFORMATION_LENGTH]);
        new ConnectReject(1, 2, ConnectReject.OF_REPLY, ConnectReject.BY_CONSUMER, information, PrivateData.NONE)
                .write(packet, 3);
        long word = packet + Mad.DATA_OFFSET + 8;
        NativeMemory.putInt(word, NativeMemory.getInt(word) | 0x7F << 17);
        ConnectReject read = ConnectReject.read(packet);
        assertEquals(information, read.information());
        assertEquals(ConnectReject.OF_REPLY, read.message());
        assertNotEquals(0, read.privateData().length());
    }
}
