package org.softrdma.kv.server.host;

/** A daemon thread of the platform for each agent. */
public final class PlatformThreads implements ServerThreads {
    @Override
    public Running start(ServerAgent agent) {
        AgentThread thread = new AgentThread(agent);
        thread.start();
        return thread;
    }

    @Override
    public boolean stepped() {
        return false;
    }
}
