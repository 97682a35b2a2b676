package org.softrdma.sim.queue;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A lock that is real between threads and nothing in manual progress, where there is only one. */
final class QueueLock {
    private final ReentrantLock lock = new ReentrantLock();
    private final boolean real;

    QueueLock(Progress progress) {
        real = !progress.isManual();
    }

    void lock() {
        if (real) {
            lock.lock();
        }
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
