package org.softrdma.suites.kv;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.fabric.scheduler.Unwinding;
import org.softrdma.kv.server.host.ServerAgent;
import org.softrdma.kv.server.host.ServerThreads;

/** A simulated thread for each agent of a server. */
final class FabricServerThreads implements ServerThreads {
    private static final Logger LOG = LoggerFactory.getLogger(FabricServerThreads.class);
    private static final long TICK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long FAILURE_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Scheduler scheduler;
    private final FabricNode node;

    FabricServerThreads(Fabric fabric, FabricNode node) {
        this.scheduler = fabric.scheduler();
        this.node = node;
    }

    @Override
    public Running start(ServerAgent agent) {
        AgentLife life = new AgentLife(agent, scheduler);
        SimulatedThread thread = node.startHelper(agent.roleName(), life::run);
        return () -> {
            life.closing = true;
            thread.thread().interrupt();
            boolean ignored = scheduler.until(thread::isEnded, Long.MAX_VALUE);
        };
    }

    @Override
    public boolean stepped() {
        return false;
    }

    /** One agent from its start to its end. */
    private static final class AgentLife {
        private final ServerAgent agent;
        private final Scheduler scheduler;
        private boolean closing;

        AgentLife(ServerAgent agent, Scheduler scheduler) {
            this.agent = agent;
            this.scheduler = scheduler;
        }

        void run() {
            agent.onStart();
            while (!closing) {
                try {
                    int ignored = agent.doWork(TICK_NS);
                } catch (Unwinding e) {
                    throw e;
                } catch (InterruptedException | RuntimeException | Error e) {
                    Thread.interrupted(); // only the close means it, and that was noted before
                    if (!closing) {
                        LOG.error("{} failed, and goes on", agent.roleName(), e);
                        scheduler.sleep(FAILURE_PAUSE_NS);
                    }
                }
            }
            Thread.interrupted(); // the end itself is not to be interrupted
            agent.onClose();
        }
    }
}
