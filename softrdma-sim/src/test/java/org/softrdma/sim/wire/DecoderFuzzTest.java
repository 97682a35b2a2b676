package org.softrdma.sim.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.peer.Frames;

/**
 * Decoders given anything: a frame is refused by {@link MalformedFrameException} or taken with values in their ranges, nothing
 * else escapes, and what was taken is said again by the encoder.
 */
class DecoderFuzzTest {
    /** Of the segment that a Terminate is about. */
    private static final int QUEUE_IN_TERMINATE = 32;

    private static final long SEED = Long.getLong("softrdma.test.seed", 6_581L);
    private static final int FAST_FRAMES = 20_000;
    private static final int SLOW_FRAMES = Boolean.getBoolean("softrdma.slow.short") ? 200_000 : 2_000_000;
    private static final int RESERVED_FLAGS = 0x0F;
    private static final int FLAGS_OFFSET = 16;

    @Test
    void shouldTakeOrRefuseAnyFrame() {
        frames(FAST_FRAMES);
    }

    @Tag("slow")
    @Test
    void shouldTakeOrRefuseAnyFrameForLong() {
        frames(SLOW_FRAMES);
    }

    private static void frames(int count) {
        int taken = 0;
        int refused = 0;
        for (int i = 0; i < count; i++) {
            Random random = new Random(SEED * 1_000_003 + i);
            boolean request = random.nextBoolean();
            byte[] bytes = mpa(random, request);
            try {
                if (decode(bytes, request)) {
                    taken++;
                }
            } catch (MalformedFrameException e) {
                refused++;
                assertFalse(String.valueOf(e.getMessage()).isEmpty());
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "frame " + i + ", seed " + SEED + " (-Dsoftrdma.test.seed): "
                                + HexFormat.of().formatHex(bytes),
                        e);
            }
        }
        assertTrue(taken > count / 10 && refused > count / 10, taken + " taken, " + refused + " refused");
    }

    /** As the engine's reader does it, with as many bytes as have come. */
    private static boolean decode(byte[] bytes, boolean request) throws MalformedFrameException {
        byte[] room = Arrays.copyOf(bytes, MpaFrame.MAX_LENGTH);
        int available = Math.min(bytes.length, MpaFrame.MAX_LENGTH);
        int length = MpaFrame.frameLength(room, available, request);
        assertTrue(length >= MpaFrame.HEADER_LENGTH && length <= MpaFrame.MAX_LENGTH, "length " + length);
        if (length > available) {
            return false;
        }
        MpaFrame frame = MpaFrame.decode(room, length, request);
        assertTrue(frame.ird() >= 0 && frame.ird() <= MpaFrame.DEPTH_MASK, "IRD " + frame.ird());
        assertTrue(frame.ord() >= 0 && frame.ord() <= MpaFrame.DEPTH_MASK, "ORD " + frame.ord());
        byte[] again = frame.encode();
        MpaFrame twice = MpaFrame.decode(Arrays.copyOf(again, MpaFrame.MAX_LENGTH), again.length, request);
        assertArrayEquals(again, twice.encode(), "what was decoded from what was encoded");
        if (frame.enhanced() && frame.peerToPeer()) {
            byte[] known = Arrays.copyOf(room, length);
            known[FLAGS_OFFSET] &= (byte) ~RESERVED_FLAGS;
            assertArrayEquals(known, again, "but for the reserved bits");
        }
        return true;
    }

    private static byte[] mpa(Random random, boolean request) {
        int field = random.nextInt(4) == 0 ? random.nextInt(520) : random.nextInt(12);
        byte[] privateData = new byte[field];
        random.nextBytes(privateData);
        byte[] frame = Frames.mpa(
                request ? Frames.REQUEST_KEY : Frames.REPLY_KEY,
                random.nextInt(256),
                random.nextInt(3) == 0 ? random.nextInt(256) : 1 + random.nextInt(2),
                privateData);
        return switch (random.nextInt(8)) {
            case 0 -> Arrays.copyOf(frame, random.nextInt(frame.length + 1));
            case 1 -> {
                frame[random.nextInt(frame.length)] ^= (byte) (1 << random.nextInt(8));
                yield frame;
            }
            case 2 -> {
                random.nextBytes(frame);
                yield frame;
            }
            default -> frame;
        };
    }

    /** Any bytes behind a length that the engine has checked: the number it gives stands in the message, or is 0. */
    @Test
    void shouldReadAnyTerminate() {
        Random random = new Random(SEED);
        for (int i = 0; i < FAST_FRAMES; i++) {
            byte[] bytes = new byte[Terminate.MAX_FPDU];
            random.nextBytes(bytes);
            boolean onQueueOne = random.nextBoolean();
            if (onQueueOne) {
                System.arraycopy(new byte[] {0, 0, 0, 1}, 0, bytes, QUEUE_IN_TERMINATE, Integer.BYTES);
            }
            int ulpdu = Terminate.MIN_ULPDU + random.nextInt(Terminate.MAX_ULPDU - Terminate.MIN_ULPDU + 1);
            WireMemory memory = WireMemory.of(HexFormat.of().formatHex(bytes));
            int code = Terminate.code(memory.address());
            assertEquals((bytes[20] & 0xFF) << 8 | (bytes[21] & 0xFF), code);
            assertFalse(Terminate.describe(code).isEmpty());
            int msn = Terminate.requestMsn(memory.address(), ulpdu);
            boolean request = (bytes[22] & 0x40) != 0 && (bytes[26] & 0x80) == 0 && onQueueOne;
            if (!request || ulpdu < 42) {
                assertEquals(0, msn, "seed " + SEED + ", Terminate " + i);
            } else {
                assertEquals(
                        HexFormat.of().formatHex(bytes, 36, 40),
                        String.format("%08x", msn),
                        "seed " + SEED + ", Terminate " + i);
            }
        }
    }
}
