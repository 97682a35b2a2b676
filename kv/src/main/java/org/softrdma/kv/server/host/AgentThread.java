package org.softrdma.kv.server.host;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.verbs.VerbsException;

/**
 * A thread that runs one agent. While there is nothing to do it sleeps where the agent waits, in the kernel. Whatever
 * the agent throws, an Error too, is logged, and the thread goes on. Started and closed by the server.
 */
final class AgentThread implements ServerThreads.Running {
    private static final Logger LOG = LoggerFactory.getLogger(AgentThread.class);

    private static final long TICK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long FAILURE_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final ServerAgent agent;
    private final Thread thread;
    private volatile boolean closing;

    /** Not started yet. */
    AgentThread(ServerAgent agent) {
        this.agent = agent;
        this.thread = Thread.ofPlatform().name(agent.roleName()).daemon().unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    private void run() {
        guarded(agent::onStart);
        while (!closing) {
            try {
                agent.doWork(TICK_NS);
            } catch (InterruptedException | RuntimeException | Error e) {
                Thread.interrupted(); // only the close means it, and that was noted before
                if (!closing) {
                    tell(e);
                    LockSupport.parkNanos(FAILURE_PAUSE_NS);
                }
            }
        }
        Thread.interrupted(); // the end itself is not to be interrupted
        guarded(agent::onClose);
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            tell(e);
        }
    }

    private void tell(Throwable cause) {
        if (cause instanceof VerbsException) {
            LOG.warn("{}: {}", agent.roleName(), cause.getMessage());
        } else {
            SafeLog.error(LOG, agent.roleName() + " failed, and goes on", cause);
        }
    }

    @Override
    public void close() {
        closing = true;
        thread.interrupt();
        try {
            if (!thread.join(CLOSE_TIMEOUT)) {
                LOG.error("thread {} has not ended within {} s", thread.getName(), CLOSE_TIMEOUT.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
