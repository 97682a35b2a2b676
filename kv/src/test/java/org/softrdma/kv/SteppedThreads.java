package org.softrdma.kv;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.kv.server.host.ServerAgent;
import org.softrdma.kv.server.host.ServerThreads;

/** No threads: the agents of a server do their work when a test says so. One thread. */
final class SteppedThreads implements ServerThreads {
    private final List<ServerAgent> agents = new ArrayList<>();

    @Override
    public Running start(ServerAgent agent) {
        agent.onStart();
        agents.add(agent);
        return () -> {
            if (agents.remove(agent)) {
                agent.onClose();
            }
        };
    }

    @Override
    public boolean stepped() {
        return true;
    }

    /** One step of each agent; how much they did. */
    int step() {
        int work = 0;
        for (ServerAgent agent : List.copyOf(agents)) {
            try {
                work += agent.doWork();
            } catch (InterruptedException e) {
                throw new IllegalStateException("an agent that may not wait was interrupted", e);
            }
        }
        return work;
    }
}
