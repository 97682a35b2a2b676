package org.softrdma.sim.carrier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.sim.memory.GuardedMemory;
import org.softrdma.sim.wire.MessageKind;

class TransmitBatchTest {
    private static final int STAGING_BYTES = 4096;
    private static final int MAX_SEGMENTS = 256;
    private static final int ROW = 5;

    private final GuardedMemory memory = new GuardedMemory();
    private final TransmitBatch batch = new TransmitBatch(memory, STAGING_BYTES);

    TransmitBatchTest() {
        batch.begin();
    }

    @AfterEach
    void requireGuards() {
        memory.requireGuards();
    }

    @Test
    void shouldStageToTheLastByteAndRefuseOneMore() {
        batch.stage(STAGING_BYTES - 3);
        assertTrue(batch.hasRoom(3, 0));
        assertFalse(batch.hasRoom(4, 0));
        IllegalStateException refused = assertThrows(IllegalStateException.class, () -> batch.stage(4));
        assertEquals("length=4 of staged bytes: expected 1 to 3", refused.getMessage());
        batch.stageZeros(3);
        assertFalse(batch.hasRoom(1, 0));
        assertThrows(IllegalStateException.class, () -> batch.stageZeros(1));
        assertEquals(STAGING_BYTES, batch.total());
    }

    @Test
    void shouldGatherToTheLastEntryAndRefuseOneMore() {
        for (int i = 0; i < IoVectors.MAX_ENTRIES; i++) {
            batch.gather(0x1000 + 2L * i, 1, ROW);
        }
        assertFalse(batch.hasRoom(1, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> batch.gather(0x9000, 1, ROW));
        assertThrows(IndexOutOfBoundsException.class, () -> batch.stage(1));
        assertEquals(IoVectors.MAX_ENTRIES, batch.entries());
    }

    @Test
    void shouldTakeAsManySegmentsAsItHasRoomFor() {
        for (int i = 0; i < MAX_SEGMENTS; i++) {
            assertTrue(batch.hasRoom(1, 0));
            batch.stage(1);
            batch.endSegment(MessageKind.WRITE, i, 0, true, null);
        }
        assertFalse(batch.hasRoom(1, 0));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> batch.endSegment(MessageKind.WRITE, MAX_SEGMENTS, 0, true, null));
    }
}
