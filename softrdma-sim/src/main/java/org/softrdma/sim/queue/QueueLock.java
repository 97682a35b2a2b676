package org.softrdma.sim.queue;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that does nothing in manual progress, where there is only one thread.
 *
 * <p>A thread that finds it taken spins briefly before it queues: the lock is held for less than a microsecond, and
 * queueing allocates.
 */
final class QueueLock {
    private static final int SPINS = 100;

    private final ReentrantLock lock = new ReentrantLock();
    private final boolean real;

    QueueLock(Progress progress) {
        real = !progress.isManual();
    }

    void lock() {
        if (real && !lock.tryLock()) {
            lockTaken();
        }
    }

    private void lockTaken() {
        for (int i = 0; i < SPINS; i++) {
            Thread.onSpinWait();
            if (lock.tryLock()) {
                return;
            }
        }
        lock.lock();
    }

    void unlock() {
        if (real) {
            lock.unlock();
        }
    }

    Condition newCondition() {
        return lock.newCondition();
    }
}
