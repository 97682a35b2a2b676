package org.softrdma.sim.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the ICRC says of the identification, for all of them and for packets of all lengths. */
class IcrcTest {
    private static final int IDENTIFICATIONS = 1 << 16;
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
