package org.softrdma.sim.device;

import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.WireConnection;
import org.softrdma.verbs.provider.PostGate;

/**
 * The way into the queues of a queue pair: a short lock in engine mode, the owner's thread in manual mode. Whoever leaves
 * rings the engine for what was posted, after the lock was released; nothing rings for a READ that the posting thread has
 * done.
 */
final class QueuePairGate implements PostGate {
    private final RnicEngine engine;
    private final WireConnection connection;
    private final boolean locking;
    private final ReentrantLock lock = new ReentrantLock();
    /** The engine is to be rung. Whoever finds it so rings for all. */
    private volatile boolean due;

    QueuePairGate(WireConnection connection) {
        this.connection = connection;
        engine = connection.engine();
        locking = !engine.isManual();
    }

    @Override
    public void enter() {
        engine.checkThread();
        lock();
    }

    /** Something is in a queue of which the engine has to be told. */
    void due() {
        due = true;
    }

    @Override
    public void exit() {
        unlock();
        if (due) {
            due = false;
            connection.ring();
        }
    }

    /** Keeps posting threads out. Any thread. */
    void lock() {
        if (locking) {
            lock.lock();
        }
    }

    void unlock() {
        if (locking) {
            lock.unlock();
        }
    }
}
