package org.softrdma.cluster;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.AgentTerminationException;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.FarmNodeContext;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A node of a cluster on a thread of its own. To embed: {@link #node} for transactions, and a context that is {@link
 * FarmNodeContext#withoutMemory}. Any thread.
 */
public final class ClusterNode implements AutoCloseable {
    private static final int SPINS = 20;
    private static final int YIELDS = 10;
    private static final long SHORTEST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(1);
    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ZooKeeperMembership membership;
    private final FarmNode node;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final Runnable onEnd;
    private final AgentRunner runner;
    private volatile IntSupplier application = () -> 0;

    private ClusterNode(ZooKeeperMembership membership, FarmNode node, Runnable onEnd) {
        this.membership = membership;
        this.node = node;
        this.onEnd = onEnd;
        runner = new AgentRunner(idleStrategy(), failure::set, null, new Turns());
    }

    /** How its thread waits, and those that ask it. */
    static IdleStrategy idleStrategy() {
        return new BackoffIdleStrategy(SPINS, YIELDS, SHORTEST_PAUSE_NS, LONGEST_PAUSE_NS);
    }

    /** Turns of the node. */
    private final class Turns implements Agent {
        @Override
        public int doWork() {
            try {
                int work = node.doWork() + application.getAsInt();
                if (!node.isOver()) {
                    return work;
                }
            } catch (RuntimeException e) {
                failure.set(e);
            }
            throw new AgentTerminationException(true);
        }

        @Override
        public void onClose() {
            node.close();
            onEnd.run();
        }

        @Override
        public String roleName() {
            return "farm-" + membership.machine();
        }
    }

    /**
     * Joins a cluster, and begins.
     *
     * @param device of the machine; the caller closes it afterwards
     * @param membership its session, which this closes, also if it fails
     * @param context what the node is made of
     * @param onEnd called by its thread when it is no member any more, or closed
     */
    public static ClusterNode start(
            VerbsDevice device, ZooKeeperMembership membership, FarmNodeContext context, Runnable onEnd) {
        ClusterNode started;
        try {
            started = new ClusterNode(membership, new FarmNode(device, membership, context), onEnd);
        } catch (RuntimeException e) {
            membership.close();
            throw e;
        }
        Thread ignored = AgentRunner.startOnThread(started.runner);
        return started;
    }

    /**
     * Runs an application on the node's thread from now on, after each of its turns: one that polls, and so never waits.
     *
     * @param newApplication returns how much it has done
     */
    public void run(IntSupplier newApplication) {
        application = newApplication;
    }

    /** For transactions. */
    public FarmNode node() {
        return node;
    }

    /** The number of this machine. */
    public int machine() {
        return membership.machine();
    }

    /** True once it is no member any more. */
    public boolean isOver() {
        return node.isOver();
    }

    /** What has ended it, if that was neither the cluster nor {@link #close}. */
    public Optional<Throwable> failure() {
        return Optional.ofNullable(failure.get());
    }

    /** Leaves the cluster: the others see it at once. */
    @Override
    public void close() {
        runner.close();
    }
}
