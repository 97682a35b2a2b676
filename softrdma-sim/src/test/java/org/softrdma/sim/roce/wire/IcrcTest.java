package org.softrdma.sim.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ICRC of made-up packets, and what it says of the identification, for all of them and for packets of all lengths. */
class IcrcTest {
    private static final int IDENTIFICATIONS = 1 << 16;
    private static final int PACKETS = 20_000;
    private static final int IPV4_HEADER = 36;
    private static final byte[] HERE = {10, 9, 0, 1};
    private static final byte[] THERE = {10, 9, 0, 11};

    private final MemorySegment memory = Arena.ofAuto().allocate(RocePacket.MAX_LENGTH, Long.BYTES);
    private final ByteBuffer view = memory.asByteBuffer();
    private final Icrc icrc = new Icrc();
    private final PseudoHeader header = new PseudoHeader(THERE, HERE);

    private int compute(int identification, int length) {
        header.identification(identification);
        return icrc.compute(header, view, memory.address(), memory.address(), length);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 20, 1_044, RocePacket.MAX_LENGTH})
    void shouldFindEveryIdentification(int length) {
        int without = compute(0, length);
        for (int identification = 0; identification < IDENTIFICATIONS; identification++) {
            assertEquals(identification, Icrc.identification(compute(identification, length), without, length));
        }
    }

    @Test
    void shouldFindTheIdentificationOfPacketsOfAllLengths() {
        for (int length = 16; length <= RocePacket.MAX_LENGTH; length += 4) {
            assertEquals(0xBEEF, Icrc.identification(compute(0xBEEF, length), compute(0, length), length));
        }
    }

    @Test
    void shouldComputeAPacketWhereverItIsInTheView() {
        memory.fill((byte) 0x5A);
        int first = compute(7, 64);
        int behind = icrc.compute(header, view, memory.address(), memory.address() + 1_000, 64);
        assertEquals(first, behind);
    }

    /** However lengths, peers, identifications and congestion follow each other, and whatever is remembered of them. */
    @ParameterizedTest
    @ValueSource(ints = {4, 16})
    void shouldBeTheCrcOfAllPieces(int addressLength) {
        Random random = new Random(addressLength);
        PseudoHeader from = new PseudoHeader(new byte[addressLength], new byte[addressLength]);
        for (int i = 0; i < PACKETS; i++) {
            int peer = random.nextInt(100) == 0 ? random.nextInt(3) : -1;
            if (peer >= 0) {
                from.source(peer, (long) peer << Integer.SIZE | 7 - peer);
                from.ports(4000 + random.nextInt(2), 4791);
            }
            int length = 16 + Integer.BYTES * random.nextInt(7);
            int identification = addressLength == 4 ? random.nextInt(random.nextBoolean() ? 64 : IDENTIFICATIONS) : 0;
            if (addressLength == 4) {
                from.identification(identification);
            }
            byte[] packet = new byte[length];
            random.nextBytes(packet);
            MemorySegment.copy(MemorySegment.ofArray(packet), 0, memory, 0, length);
            String seen = i + ": " + length + " bytes, identification " + identification;
            assertEquals(
                    inPieces(from.bytes(length), identification, packet),
                    icrc.compute(from, view, memory.address(), memory.address(), length),
                    seen);
            assertEquals(
                    HexFormat.of().formatHex(packet),
                    HexFormat.of().formatHex(memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)),
                    seen);
        }
    }

    private static int inPieces(byte[] header, int identification, byte[] packet) {
        byte[] above = header.clone();
        if (header.length == IPV4_HEADER) {
            ByteBuffer.wrap(above).putShort(12, (short) identification);
        }
        byte[] masked = packet.clone();
        masked[Bth.CONGESTION_OFFSET] = (byte) 0xFF;
        CRC32 crc = new CRC32();
        crc.update(above);
        crc.update(masked, 0, masked.length - RocePacket.ICRC_LENGTH);
        return (int) crc.getValue();
    }

    @Test
    void shouldRefuseAddressesOfTwoFamiliesAndOfNone() {
        assertThrows(IllegalArgumentException.class, () -> new PseudoHeader(HERE, new byte[16]));
        assertThrows(IllegalArgumentException.class, () -> new PseudoHeader(new byte[5], new byte[5]));
    }

    @Test
    void shouldHaveNoIdentificationOverIpv6() {
        PseudoHeader ipv6 = new PseudoHeader(new byte[16], new byte[16]);
        assertThrows(IllegalStateException.class, () -> ipv6.identification(1));
    }
}
