package org.softrdma.suites.kv;

import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.kv.turns.OwnThread;

/** A simulated thread of a client. */
record FabricThread(Scheduler scheduler, SimulatedThread thread) implements OwnThread {
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
        boolean ignored = scheduler.until(thread::isEnded, Long.MAX_VALUE);
    }
}
