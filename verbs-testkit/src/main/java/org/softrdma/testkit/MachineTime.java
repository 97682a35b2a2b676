package org.softrdma.testkit;

import java.util.concurrent.locks.LockSupport;

/** The time of this machine. Thread-safe. */
public interface MachineTime extends TimeOfRun {
    /** Looks before a thread that waits leaves its processor to others. */
    int SPINS_BEFORE_PARKING = 100;

    /** How long it leaves it to them. */
    long PARK_NS = 20_000;

    @Override
    default long nanoTime() {
        return System.nanoTime();
    }

    @Override
    default void idle(int rounds) {
        if (rounds < SPINS_BEFORE_PARKING) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(PARK_NS);
        }
    }

    @Override
    default void sleep(long durationNs) {
        LockSupport.parkNanos(durationNs);
    }
}
