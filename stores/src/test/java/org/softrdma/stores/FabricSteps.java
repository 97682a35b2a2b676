package org.softrdma.stores;

import java.lang.foreign.MemorySegment;
import org.softrdma.sim.fabric.Fabric;
import org.softrdma.sim.fabric.baton.Baton;

/** A server hands the baton on in the middle of its changes, and writes word by word. Whoever holds the baton. */
public final class FabricSteps extends MemorySteps {
    private final Baton baton;

    /** Steps on a fabric. */
    public FabricSteps(Fabric fabric) {
        baton = fabric.baton();
    }

    @Override
    public void step(Enum<?> point) {
        baton.note(point.name(), 0);
        baton.edge();
    }

    @Override
    public void write(MemorySegment memory, long offset, long word) {
        super.write(memory, offset, word);
        baton.step();
    }

    @Override
    public void copy(MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long length) {
        for (long done = 0; done < length; done += Long.BYTES) {
            long here = Math.min(Long.BYTES, length - done);
            MemorySegment.copy(source, sourceOffset + done, target, targetOffset + done, here);
            baton.step();
        }
    }
}
