package org.softrdma.kv.server;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Where the server's own work runs, beside its connections: threads of the platform unless {@link
 * Surroundings#ownThreads} says otherwise. The server starts and ends what it is given. Called by the thread that starts the server.
 */
public interface ServerThreads {
    /**
     * A thread that is not started yet, for work that goes on until the server is closed. It is interrupted to end.
     *
     * @param name of the thread
     * @param task what it does
     */
    Thread thread(String name, Runnable task);

    /**
     * Threads for short work that must not hold up others.
     *
     * @param name how their names begin
     * @param count how many
     */
    ExecutorService executor(String name, int count);

    /**
     * One thread for work that is due at a time.
     *
     * @param name of the thread
     */
    ScheduledExecutorService scheduler(String name);
}
