package org.softrdma.farm.ring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A writer and a reader of one ring, whose frames land byte by byte in an order that the test chooses. */
class RingTest {
    private static final int CAPACITY = 512;

    private final MemorySegment staging = Arena.ofAuto().allocate(CAPACITY, 64);
    private final MemorySegment ring = Arena.ofAuto().allocate(CAPACITY, 64);
    private final RingWriter writer = new RingWriter(staging);

    /** A WRITE that lands. */
    private record Landing(long at, int length) {}

    private List<Landing> send(byte[] message) {
        List<Landing> landings = new ArrayList<>();
        if (writer.mustSkip(message.length)) {
            long at = writer.at();
            landings.add(new Landing(at, writer.skip()));
        }
        long at = writer.at();
        MemorySegment.copy(MemorySegment.ofArray(message), 0, staging, writer.claim(message.length), message.length);
        landings.add(new Landing(at, writer.seal()));
        writer.writtenTo(writer.tail());
        return landings;
    }

    private void land(Landing landing) {
        MemorySegment.copy(staging, landing.at(), ring, landing.at(), landing.length());
    }

    private static byte[] message(Random random) {
        byte[] message = new byte[random.nextInt(RingWriter.longest(CAPACITY) + 1)];
        random.nextBytes(message);
        return message;
    }

    private static byte[] taken(RingReader reader, MemorySegment ring) {
        int length = reader.poll();
        return ring.asSlice(reader.payload(), length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void shouldCarryMessagesRoundAndRoundWithoutOverwritingAny() {
        for (boolean proven : new boolean[] {true, false}) {
            Random random = new Random(7);
            RingWriter sender = new RingWriter(staging.fill((byte) 0));
            RingReader reader = new RingReader(ring.fill((byte) 0), proven);
            Deque<byte[]> underWay = new ArrayDeque<>();
            int taken = 0;
            int full = 0;
            while (taken < 5_000) {
                byte[] message = message(random);
                if (random.nextBoolean() && sender.hasRoom(message.length)) {
                    if (sender.mustSkip(message.length)) {
                        long at = sender.at();
                        land(new Landing(at, sender.skip()));
                    }
                    long at = sender.at();
                    MemorySegment.copy(
                            MemorySegment.ofArray(message), 0, staging, sender.claim(message.length), message.length);
                    land(new Landing(at, sender.seal()));
                    sender.writtenTo(sender.tail());
                    underWay.add(message);
                } else if (!underWay.isEmpty()) {
                    assertArrayEquals(underWay.remove(), taken(reader, ring));
                    reader.release();
                    taken++;
                    if (reader.mustTell()) {
                        reader.told();
                        sender.headIs(HeadWordDescriptor.word(reader.head()));
                    }
                } else {
                    assertEquals(RingReader.NONE, reader.poll());
                    full += sender.hasRoom(RingWriter.longest(CAPACITY)) ? 0 : 1;
                }
            }
            assertEquals(0, full, "an empty ring has room for the longest message");
        }
    }

    /** Whatever the order in which bytes land, and whatever garbage a long message before it has left. */
    @Test
    void shouldBelieveAMessageOnlyOnceAllOfItIsThere() {
        Random random = new Random(3);
        RingReader reader = new RingReader(ring, true);
        for (int i = 0; i < 400; i++) {
            byte[] message = message(random);
            for (Landing landing : send(message)) {
                List<Long> bytes = new ArrayList<>();
                for (long at = landing.at(); at < landing.at() + landing.length(); at++) {
                    if (staging.get(ValueLayout.JAVA_BYTE, at) != ring.get(ValueLayout.JAVA_BYTE, at)) {
                        bytes.add(at);
                    }
                }
                Collections.shuffle(bytes, random);
                for (long at : bytes) {
                    assertEquals(RingReader.NONE, reader.poll(), "message " + i);
                    ring.set(ValueLayout.JAVA_BYTE, at, staging.get(ValueLayout.JAVA_BYTE, at));
                }
            }
            assertArrayEquals(message, taken(reader, ring));
            reader.release();
            writer.headIs(HeadWordDescriptor.word(reader.head()));
        }
        assertEquals(-1, ring.mismatch(Arena.ofAuto().allocate(CAPACITY)), "all is zero behind the head");
    }

    @Test
    void shouldNotOverwriteWhatTheReceiverHasNotReleased() {
        byte[] message = new byte[RingWriter.longest(CAPACITY)];
        int sent = 0;
        while (writer.hasRoom(message.length)) {
            send(message);
            sent++;
        }
        assertEquals(4, sent);
        writer.headIs(HeadWordDescriptor.word(RingFrameDescriptor.length(message.length) - 1L));
        assertFalse(writer.hasRoom(message.length));
        writer.headIs(RingFrameDescriptor.length(message.length)); // half of a head word
        assertFalse(writer.hasRoom(message.length));
        writer.headIs(HeadWordDescriptor.word(CAPACITY + 16L)); // farther than anything sent
        assertFalse(writer.hasRoom(message.length));
        writer.headIs(HeadWordDescriptor.word(RingFrameDescriptor.length(message.length)));
        assertTrue(writer.hasRoom(message.length));
        assertThrows(IllegalArgumentException.class, () -> writer.hasRoom(message.length + 1));
    }

    @Test
    void shouldNotUseAPlaceAgainBeforeItsWriteIsComplete() {
        byte[] message = new byte[RingWriter.longest(CAPACITY)];
        for (int i = 0; i < 4; i++) {
            long ignored = writer.claim(message.length);
            int length = writer.seal();
            assertEquals(CAPACITY / 4, length);
        }
        writer.headIs(HeadWordDescriptor.word(CAPACITY));
        assertFalse(writer.hasRoom(message.length));
        writer.writtenTo(CAPACITY / 4);
        assertTrue(writer.hasRoom(message.length));
    }

    @Test
    void shouldLayAFrameOutAsDrawn() {
        List<Landing> landings = send(new byte[] {1, 2, 3, 4, 5});

        assertEquals(List.of(new Landing(0, 32)), landings);
        String bytes = HexFormat.of().formatHex(staging.asSlice(0, 32).toArray(ValueLayout.JAVA_BYTE));
        assertEquals("0500000001000000" + "0102030405000000" + "0000000000000000" + "5553f61d01000000", bytes);
    }

    @Test
    void shouldLayAHeadWordOutAsDrawn() {
        assertEquals(0xffff_feff_0000_0100L, HeadWordDescriptor.word(256));
        assertTrue(HeadWordDescriptor.isWhole(0xffff_feff_0000_0100L));
        assertFalse(HeadWordDescriptor.isWhole(0xffff_feff_0000_0000L));
        assertEquals((1L << 32) + 256, HeadWordDescriptor.position(HeadWordDescriptor.word(256), (1L << 32) - 16));
    }
}
