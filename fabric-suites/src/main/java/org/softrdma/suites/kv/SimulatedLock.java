package org.softrdma.suites.kv;

import java.io.Serial;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.fabric.scheduler.Scheduler;

/** A lock whose waiters let other threads run. */
final class SimulatedLock extends ReentrantLock {
    @Serial
    private static final long serialVersionUID = 1L;

    private final transient Scheduler scheduler;

    SimulatedLock(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    @Override
    public void lock() {
        while (!tryLock()) {
            boolean ignored = scheduler.until(() -> !isLocked(), Long.MAX_VALUE);
        }
    }
}
