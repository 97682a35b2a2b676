package org.softrdma.fabric;

import org.agrona.concurrent.IdleStrategy;
import org.softrdma.fabric.scheduler.Scheduler;

/** Lets another thread run where a real one would spin. */
final class SimulatedIdleStrategy implements IdleStrategy {
    private final Scheduler scheduler;

    SimulatedIdleStrategy(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    @Override
    public void idle(int workCount) {
        if (workCount > 0) {
            scheduler.step();
        } else {
            scheduler.idle();
        }
    }

    @Override
    public void idle() {
        scheduler.idle();
    }

    @Override
    public void reset() {
        // It has no state.
    }
}
