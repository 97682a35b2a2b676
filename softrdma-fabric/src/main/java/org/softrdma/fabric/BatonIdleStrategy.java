package org.softrdma.fabric;

import org.agrona.concurrent.IdleStrategy;
import org.softrdma.fabric.baton.Baton;

/** Hands the baton on where a real thread would spin. */
final class BatonIdleStrategy implements IdleStrategy {
    private final Baton baton;

    BatonIdleStrategy(Baton baton) {
        this.baton = baton;
    }

    @Override
    public void idle(int workCount) {
        if (workCount > 0) {
            baton.step();
        } else {
            baton.idle();
        }
    }

    @Override
    public void idle() {
        baton.idle();
    }

    @Override
    public void reset() {
        // It has no state.
    }
}
