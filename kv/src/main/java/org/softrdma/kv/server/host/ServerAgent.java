package org.softrdma.kv.server.host;

import org.agrona.concurrent.Agent;

/**
 * A loop of the server, cut into steps. Whoever runs it calls {@link #doWork(long)} again and again, by one thread at a
 * time, and {@link #onClose} once at the end; see {@link ServerThreads}. {@link #roleName} names the thread.
 */
public interface ServerAgent extends Agent {
    /**
     * Does a bounded amount of work. Waits for work if there is none.
     *
     * @param timeoutNs how long to wait at most, in nanoseconds; 0 returns at once
     * @return how much was done, 0 for nothing
     * @throws InterruptedException if the thread was interrupted while it waited
     */
    int doWork(long timeoutNs) throws InterruptedException;

    /** Does a bounded amount of work, without waiting. */
    @Override
    default int doWork() throws InterruptedException {
        return doWork(0);
    }
}
