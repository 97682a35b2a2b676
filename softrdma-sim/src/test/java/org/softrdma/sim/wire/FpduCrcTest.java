package org.softrdma.sim.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;

/** The CRC32C of FPDUs against the vectors of RFC 3720 and the FPDUs that RFC 5044 shows. */
class FpduCrcTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 3_720L);

    private static final String ZEROS = "00000000 00000000 00000000 00000000 00000000 00000000";

    /** RFC 5044 figure 5, with the marker in front of it. */
    private static final String MARKED_SEND = "00000000 002a4143 00000000 00000000 00000001 00000000" + ZEROS;

    private final FpduCrc crc = new FpduCrc();

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "RFC 3720 B.4: 32 bytes of zeros, "
                + "0000000000000000000000000000000000000000000000000000000000000000, aa36918a",
        "RFC 3720 B.4: 32 bytes of ones, "
                + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff, 43aba862",
        "RFC 3720 B.4: 32 bytes ascending, "
                + "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f, 4e79dd46",
        "RFC 3720 B.4: 32 bytes descending, "
                + "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100, 5cdb3f11",
        "RFC 3720 B.4: an iSCSI SCSI Read (10) command PDU, "
                + "01c00000 00000000 00000000 00000000 14000000 00000400 00000014 00000018"
                + " 28000000 00000000 02000000 00000000, 563a96d9",
        "RFC 5044 figure 5: a SEND behind its marker, " + MARKED_SEND + ", 52239983",
        "RFC 5044 figure 6: a SEND with a marker in it, " + "002a4143 00000000 00000000 00000002 00000000 00000014"
                + ZEROS + ", 84925898"
    })
    void shouldBeTheCrcOfTheRfc(String name, String covered, String expected) {
        byte[] bytes = Frames.bytes(covered);
        // The class is told the length and does not look at the field: any bytes may be the covered part.
        int ulpdu = bytes.length - Short.BYTES;
        WireMemory memory = WireMemory.of(covered + "00000000");
        crc.put(memory.view(), memory.address(), memory.address(), ulpdu);
        assertEquals(WireMemory.plain(covered + expected), memory.hex(), name);
        assertTrue(crc.isValid(memory.view(), memory.address(), memory.address(), ulpdu), name);
    }

    @Test
    void shouldNoticeEveryFlippedBit() {
        byte[] good = Frames.bytes(MARKED_SEND + "52239983");
        WireMemory memory = new WireMemory(good.length);
        for (int bit = 0; bit < good.length * Byte.SIZE; bit++) {
            byte[] flipped = good.clone();
            flipped[bit / Byte.SIZE] ^= (byte) (1 << (bit % Byte.SIZE));
            NativeMemory.put(memory.address(), flipped);
            int ulpdu = good.length - Short.BYTES - Ddp.CRC_LENGTH;
            assertFalse(crc.isValid(memory.view(), memory.address(), memory.address(), ulpdu), "bit " + bit);
        }
    }

    /** RFC 5044 section 4.4: the CRC covers the pad, whatever is in it, and stands behind it. */
    @ParameterizedTest
    @CsvSource({"39", "40", "41", "42"})
    void shouldCoverThePad(int ulpdu) {
        String behind = WireMemory.UNTOUCHED.repeat(8);
        byte[] expected = Frames.fpdu(TestBytes.pattern(1, ulpdu), true);
        WireMemory memory = WireMemory.of(TestBytes.hex(expected) + behind);
        NativeMemory.putInt(memory.address() + expected.length - Ddp.CRC_LENGTH, 0);
        crc.put(memory.view(), memory.address(), memory.address(), ulpdu);
        assertEquals(TestBytes.hex(expected) + behind, memory.hex());

        int pad = expected.length - Ddp.CRC_LENGTH - Short.BYTES - ulpdu;
        for (int i = 0; i < pad; i++) {
            long at = memory.address() + Short.BYTES + ulpdu + i;
            NativeMemory.putByte(at, 1);
            assertFalse(crc.isValid(memory.view(), memory.address(), memory.address(), ulpdu), "pad byte " + i);
            NativeMemory.putByte(at, 0);
        }
        assertTrue(crc.isValid(memory.view(), memory.address(), memory.address(), ulpdu));
    }

    @Test
    void shouldFindTheFpduAnywhereInItsViewAndLeaveTheRestAlone() {
        Random random = new Random(SEED);
        for (int round = 0; round < 500; round++) {
            int before = random.nextInt(70);
            byte[] segment = new byte[random.nextInt(300)];
            random.nextBytes(segment);
            byte[] expected = Frames.fpdu(segment, true);
            WireMemory memory = new WireMemory(before + expected.length + random.nextInt(70));
            String untouched = memory.hex();
            long fpdu = memory.address() + before;
            NativeMemory.put(fpdu, Frames.fpdu(segment, false));
            crc.put(memory.view(), memory.address(), fpdu, segment.length);
            String all = untouched.substring(0, 2 * before)
                    + TestBytes.hex(expected)
                    + untouched.substring(2 * (before + expected.length));
            assertEquals(all, memory.hex(), "round " + round + ", seed " + SEED);
            assertTrue(
                    crc.isValid(memory.view(), memory.address(), fpdu, segment.length),
                    "round " + round + ", seed " + SEED);
        }
    }
}
