package org.softrdma.kv.server.host;

/**
 * Who runs the server's own loops, beside its connections: a thread of the platform for each, unless {@code
 * ServerEnvironment.ownThreads} says otherwise. Called by the thread that starts the server.
 */
public interface ServerThreads {
    /**
     * Runs an agent from now on. An agent that throws is run again, after a pause in which others may free what it
     * lacked.
     *
     * @param agent one loop of the server
     * @return ends it; closed by the server
     */
    Running start(ServerAgent agent);

    /**
     * True if every agent is run by the thread that starts the server, by and by. Then that thread may own a device in
     * manual progress.
     */
    boolean stepped();

    /** An agent that is being run. */
    @FunctionalInterface
    interface Running extends AutoCloseable {
        /** Ends it: when this returns the agent is closed and nobody calls it any more. */
        @Override
        void close();
    }
}
