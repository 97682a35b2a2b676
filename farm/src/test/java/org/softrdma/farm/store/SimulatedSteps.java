package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.stores.MemorySteps;

/**
 * Writes memory in pieces of a word, and lets others run between some of the steps: some changes are seen in the middle,
 * and others happen within one copy of a device.
 */
public class SimulatedSteps extends MemorySteps {
    private static final int SEEN = 250;

    private final Scheduler scheduler;

    /** Of a run. */
    public SimulatedSteps(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    @Override
    public void step(Enum<?> point) {
        scheduler.note(point.name(), point.ordinal());
        step();
    }

    private void step() {
        if (scheduler.choices().chance(SEEN)) {
            scheduler.step();
        }
    }

    @Override
    public void write(MemorySegment memory, long offset, long word) {
        super.write(memory, offset, word);
        step();
    }

    @Override
    public void copy(MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long length) {
        long done = 0;
        while (done < length) {
            long piece = Math.min(length - done, Long.BYTES - (targetOffset + done) % Long.BYTES);
            super.copy(source, sourceOffset + done, target, targetOffset + done, piece);
            done += piece;
            step();
        }
    }
}
