package org.softrdma.suites.kv;

import org.softrdma.fabric.baton.Baton;
import org.softrdma.fabric.baton.SimulatedThread;
import org.softrdma.kv.turns.OwnThread;

/** A simulated thread of a client. */
record FabricThread(Baton baton, SimulatedThread thread) implements OwnThread {
    @Override
    public boolean isCurrent() {
        return Thread.currentThread() == thread.thread();
    }

    @Override
    public void interrupt() {
        thread.thread().interrupt();
    }

    @Override
    public void join() {
        boolean ignored = baton.until(thread::isEnded, Long.MAX_VALUE);
    }
}
