package org.softrdma.kv.server.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.host.InputBudget;

/** What sending an answer allocates on the heap: nothing, if the one before is sent. No socket. */
class StreamOutputAllocationTest {
    private static final int ANSWERS = 5_000;
    private static final int ROUNDS = 60;
    private static final int BYTES = 40;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final LoopBuffers buffers =
            new LoopBuffers(UnpooledByteBufAllocator.DEFAULT, new InputBudget(1 << 20), 64 << 20);
    private final StreamOutput output = new StreamOutput(buffers);

    private long allocated() {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < ANSWERS; i++) {
            ByteBuf buffer = buffers.output(64 * 1024);
            output.add(buffer, BYTES);
            if (output.offer() != 1 || !output.taken(BYTES)) {
                throw new AssertionError("not sent whole");
            }
        }
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    @Test
    void shouldAllocateNothingToSendOneAnswerAfterTheOther() {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS && least > 0; round++) {
            least = Math.min(least, allocated());
        }
        assertTrue(output.isEmpty());
        assertEquals(0, least, "for " + ANSWERS + " answers");
        buffers.close();
    }
}
