package org.softrdma.stores;

import java.lang.foreign.MemorySegment;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.scheduler.Scheduler;

/**
 * A server lets others run in the middle of its changes, and writes word by word. It can be made to crash at one of
 * these steps.
 */
public final class FabricSteps extends MemorySteps {
    private final Scheduler scheduler;
    private int stepsLeft = Integer.MAX_VALUE;

    /** The server is to crash here. */
    public static final class Crash extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Steps on a fabric. */
    public FabricSteps(Fabric fabric) {
        scheduler = fabric.scheduler();
    }

    /** The server crashes at one of its next steps. */
    public void crashAfter(int steps) {
        stepsLeft = steps;
    }

    private void countDown() {
        if (stepsLeft != Integer.MAX_VALUE && stepsLeft-- <= 0) {
            stepsLeft = Integer.MAX_VALUE;
            throw new Crash();
        }
    }

    @Override
    public void step(Enum<?> point) {
        countDown();
        scheduler.note(point.name(), 0);
        scheduler.edge();
    }

    @Override
    public void write(MemorySegment memory, long offset, long word) {
        super.write(memory, offset, word);
        scheduler.step();
    }

    @Override
    public void copy(MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long length) {
        for (long done = 0; done < length; done += Long.BYTES) {
            countDown();
            long here = Math.min(Long.BYTES, length - done);
            MemorySegment.copy(source, sourceOffset + done, target, targetOffset + done, here);
            scheduler.step();
        }
    }
}
