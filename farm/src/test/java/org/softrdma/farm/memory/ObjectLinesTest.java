package org.softrdma.farm.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.MemorySteps;

/** Where the bytes of an object are, written by {@link ObjectChanges} and read by {@link LockFreeReader}. */
class ObjectLinesTest {
    private static final int LONGEST = 400;

    private final MemorySegment memory = Arena.ofAuto().allocate(1024, 64);

    private static ObjectImage written(MemorySegment memory, long object, int length, boolean checksums, int times) {
        ObjectChanges changes = new ObjectChanges(memory, checksums, MemorySteps.OF_JVM);
        for (int i = 0; i < times; i++) {
            ObjectImage image = changes.change(object, length);
            for (int at = FarmObjectDescriptor.PAYLOAD_OFFSET; at < length; at++) {
                image.segment().set(ValueLayout.JAVA_BYTE, at, (byte) (at + i));
            }
            changes.commit();
        }
        ObjectImage image = new ObjectImage();
        changes.load(object, length, image);
        return image;
    }

    @Test
    void shouldReadWhatWasWrittenWhereverItBegins() {
        for (int start = 0; start < 64; start += FarmObjectDescriptor.ALIGNMENT) {
            for (int length = FarmObjectDescriptor.PAYLOAD_OFFSET; length < LONGEST; length++) {
                memory.fill((byte) 0);
                ObjectImage expected = written(memory, start, length, true, 2);
                int all = FarmObjectDescriptor.lengthWithChecksum(length, true);
                int inMemory = ObjectLines.lengthInMemory(start, all);
                assertTrue(inMemory <= ObjectLines.slotLength(all), "start " + start + ", length " + length);
                assertEquals(
                        -1,
                        memory.asSlice(start + inMemory)
                                .mismatch(Arena.ofAuto().allocate(memory.byteSize() - start - inMemory)),
                        "nothing behind it is touched");

                MemorySegment sink = Arena.ofAuto().allocate(inMemory + 3L);
                MemorySegment.copy(memory, start, sink, 3, inMemory); // a sink has no alignment
                ObjectImage image = new ObjectImage();
                assertEquals(ReadVerdict.CONSISTENT, new LockFreeReader(true).read(sink, 3, start, length, image));
                assertEquals(8, image.version());
                assertEquals(
                        -1,
                        image.segment()
                                .asSlice(0, length)
                                .mismatch(expected.segment().asSlice(0, length)));
            }
        }
    }

    /** Two writes of an object of 100 bytes at 0: header, line version at 64, payload, checksum. */
    @Test
    void shouldLayAnObjectOutAsDrawn() {
        ObjectImage ignored = written(memory, 0, 100, true, 2);

        String bytes = HexFormat.of().formatHex(memory.asSlice(0, 112).toArray(ValueLayout.JAVA_BYTE));
        assertEquals("0800000000000000", bytes.substring(0, 16), "version");
        assertEquals("0000000000000000", bytes.substring(16, 32), "incarnation");
        assertEquals("1112131415161718", bytes.substring(32, 48), "payload, from byte 16 of the object");
        assertEquals("3d3e3f40" + "0800" + "41424344", bytes.substring(120, 140), "line version at 64");
        assertEquals("6364" + "5f899bceb6420415" + "0000", bytes.substring(200, 224), "end of the payload, checksum");
        assertEquals(110, ObjectLines.lengthInMemory(0, 108));
    }

    @Test
    void shouldFindEveryChangedByteByTheChecksum() {
        ObjectImage ignored = written(memory, 16, 150, true, 1);
        int inMemory = ObjectLines.lengthInMemory(16, 158);
        for (int at = 0; at < inMemory; at++) {
            byte old = memory.get(ValueLayout.JAVA_BYTE, 16L + at);
            memory.set(ValueLayout.JAVA_BYTE, 16L + at, (byte) (old ^ 4));
            ReadVerdict verdict = new LockFreeReader(true).read(memory, 16, 16, 150, new ObjectImage());
            assertTrue(verdict != ReadVerdict.CONSISTENT, "byte " + at);
            memory.set(ValueLayout.JAVA_BYTE, 16L + at, old);
        }
    }

    @Test
    void shouldLetReadersInWhileATransactionHoldsTheObjectAndNotWhileItWrites() {
        ObjectImage image = written(memory, 0, 100, false, 1);
        LockFreeReader reader = new LockFreeReader(false);
        ObjectWriter writer = new ObjectWriter(memory, false, MemorySteps.OF_JVM);

        writer.lock(0);
        assertEquals(ReadVerdict.CONSISTENT, reader.read(memory, 0, 0, 100, new ObjectImage()));
        writer.lockForWriting(0, 100);
        assertEquals(ReadVerdict.LOCKED, reader.read(memory, 0, 0, 100, new ObjectImage()));
        memory.set(ValueLayout.JAVA_LONG, 0, 4); // a reader that has got the header before that
        assertEquals(ReadVerdict.LINES_DIFFER, reader.read(memory, 0, 0, 100, new ObjectImage()));
        writer.write(0, image);
        writer.unlock(0, image);
        assertEquals(ReadVerdict.CONSISTENT, reader.read(memory, 0, 0, 100, new ObjectImage()));
        assertEquals(8, memory.get(ValueLayout.JAVA_LONG, 0));
    }
}
