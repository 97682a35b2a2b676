package org.softrdma.suites;

import org.softrdma.fabric.Fabric;
import org.softrdma.testkit.TimeOfRun;

/** The virtual time of a fabric. Processes of the run. */
public interface FabricTime extends TimeOfRun {
    /** Whose time it is. */
    Fabric fabric();

    @Override
    default long nanoTime() {
        return fabric().clock().nanoTime();
    }

    @Override
    default void idle(int rounds) {
        fabric().scheduler().idle();
    }

    @Override
    default void sleep(long durationNs) {
        fabric().scheduler().sleep(durationNs);
    }
}
