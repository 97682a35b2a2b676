package org.softrdma.sanitiser.watch;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock under which the provider is called. Where something other than the JVM decides who runs, as in a simulation,
 * the provider may let others run meanwhile; who finds it held then lets others run too, and does not block. Any
 * thread.
 */
public final class CallLock {
    /** How threads wait by the JVM's own means. */
    static final Runnable BLOCKING = () -> {};

    private final ReentrantLock lock = new ReentrantLock();
    private final Runnable idle;

    CallLock(Runnable idle) {
        this.idle = idle;
    }

    /** Takes it. */
    public void lock() {
        if (idle == BLOCKING) {
            lock.lock();
            return;
        }
        while (!lock.tryLock()) {
            idle.run();
        }
    }

    /** Gives it back. */
    public void unlock() {
        lock.unlock();
    }
}
