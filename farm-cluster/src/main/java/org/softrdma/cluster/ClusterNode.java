package org.softrdma.cluster;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.AgentTerminationException;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.FarmNodeContext;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A node of a cluster on a thread of its own. To embed: {@link #node} for transactions, and a context that is {@link
 * FarmNodeContext#withoutMemory}. Any thread.
 *
 * <p>A device in manual progress is best: the node's thread drives it and sleeps in it, and what comes wakes no other
 * thread. If the device has threads of its own, the node's looks at its memory after pauses of up to a millisecond.
 */
public final class ClusterNode implements AutoCloseable {
    private static final int SPINS = 20;
    private static final int YIELDS = 10;
    private static final long SHORTEST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(1);
    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ZooKeeperMembership membership;
    private final CompletableFuture<Machine> machine = new CompletableFuture<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AgentRunner runner;
    private volatile IntSupplier application = () -> 0;

    /** What the thread has opened. */
    private record Machine(VerbsDevice device, FarmNode node) implements AutoCloseable {
        /**
         * Opens it.
         *
         * @throws RuntimeException why there is no such device or node; the session is closed
         */
        static Machine open(Supplier<VerbsDevice> opening, ZooKeeperMembership membership, FarmNodeContext context) {
            VerbsDevice device = null;
            try {
                device = opening.get();
                return new Machine(device, new FarmNode(device, membership, context));
            } catch (RuntimeException | Error e) {
                CloseHelper.closeAll(membership, device);
                throw e;
            }
        }

        @Override
        public void close() {
            CloseHelper.closeAll(node, device);
        }
    }

    private ClusterNode(
            Supplier<VerbsDevice> opening, ZooKeeperMembership membership, FarmNodeContext context, Runnable onEnd) {
        this.membership = membership;
        Turns turns = new Turns(() -> Machine.open(opening, membership, context), onEnd);
        runner = new AgentRunner(NoOpIdleStrategy.INSTANCE, failure::set, null, turns);
    }

    /** How threads wait that drive no device. */
    static IdleStrategy idleStrategy() {
        return new BackoffIdleStrategy(SPINS, YIELDS, SHORTEST_PAUSE_NS, LONGEST_PAUSE_NS);
    }

    /** Turns of the node, and rests between them. */
    private final class Turns implements Agent {
        private final Supplier<Machine> opening;
        private final Runnable onEnd;
        private final IdleStrategy idle = idleStrategy();

        Turns(Supplier<Machine> opening, Runnable onEnd) {
            this.opening = opening;
            this.onEnd = onEnd;
        }

        @Override
        public void onStart() {
            try {
                machine.complete(opening.get());
            } catch (RuntimeException | Error e) {
                machine.completeExceptionally(e);
                throw e;
            }
        }

        @Override
        public int doWork() {
            Machine opened = machine.join();
            try {
                int work = opened.node.doWork() + application.getAsInt();
                if (!opened.node.isOver()) {
                    rest(opened.device, work);
                    return work;
                }
            } catch (RuntimeException | Error e) { // half a turn is done: the others take over
                failure.set(e);
            }
            throw new AgentTerminationException(true);
        }

        private void rest(VerbsDevice device, int work) {
            if (!device.manualProgress()) {
                idle.idle(work);
                return;
            }
            if (work == 0) {
                int ignored = device.progress(LONGEST_PAUSE_NS);
            }
        }

        @Override
        public void onClose() {
            if (!machine.isCompletedExceptionally()) {
                try {
                    machine.join().close();
                } finally {
                    onEnd.run();
                }
            }
        }

        @Override
        public String roleName() {
            return "farm-" + membership.machine();
        }
    }

    /**
     * Joins a cluster, and begins.
     *
     * @param opening opens the device of the machine; the node's thread calls it, and closes the device in the end
     * @param membership its session, which this closes, also if it fails
     * @param context what the node is made of
     * @param onEnd called by its thread when it is no member any more, or closed
     * @throws RuntimeException what {@code opening} or the node has thrown
     */
    public static ClusterNode start(
            Supplier<VerbsDevice> opening, ZooKeeperMembership membership, FarmNodeContext context, Runnable onEnd) {
        ClusterNode started = new ClusterNode(opening, membership, context, onEnd);
        Thread ignored = AgentRunner.startOnThread(started.runner);
        try {
            started.machine.join();
            return started;
        } catch (CompletionException e) {
            started.close();
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
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
        return machine.join().node;
    }

    /** The number of this machine. */
    public int machine() {
        return membership.machine();
    }

    /** What its device has counted, by {@link VerbsDevice#counters name}. */
    public Map<String, Long> counters() {
        return machine.join().device.counters();
    }

    /** True once it is no member any more. */
    public boolean isOver() {
        return node().isOver();
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
