package org.softrdma.sim.carrier;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.memory.MemoryOperations;

/** Batches that are sent later, and the memory that they still need. */
class StreamBuffersTest {
    private static final long AT = 0x10_0000;
    private static final int LENGTH = 64;
    private static final int RECEIVE_BYTES = 4096;

    private final StreamBuffers buffers = new StreamBuffers(new MemoryOperations(), RECEIVE_BYTES);

    private boolean isInUse(long address) {
        return buffers.overlaps(address, address + 1);
    }

    @Test
    void shouldKeepMemoryInUseUntilItsBatchIsGivenBack() {
        buffers.batch().begin();
        buffers.batch().gather(AT, LENGTH, 1);
        assertTrue(isInUse(AT));
        TransmitBatch left = buffers.leave();
        assertTrue(isInUse(AT + LENGTH - 1), "it waits to be sent");
        assertFalse(isInUse(AT + LENGTH));
        assertNotSame(left, buffers.batch());
        buffers.giveBack(left);
        assertFalse(isInUse(AT));
    }

    @Test
    void shouldUseABatchAgainThatWasGivenBack() {
        TransmitBatch first = buffers.leave();
        TransmitBatch second = buffers.leave();
        buffers.giveBack(first);
        buffers.giveBack(second);
        List<TransmitBatch> again = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            again.add(buffers.leave());
        }
        assertTrue(again.contains(first) && again.contains(second));
    }

    @Test
    void shouldKeepTheBatchThatWasNotLeft() {
        TransmitBatch current = buffers.batch();
        buffers.giveBack(current);
        assertSame(current, buffers.batch());
        assertNotSame(buffers.leave(), buffers.batch());
    }
}
