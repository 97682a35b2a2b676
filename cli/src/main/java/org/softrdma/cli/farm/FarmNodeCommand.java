package org.softrdma.cli.farm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.HostPort;
import org.softrdma.cli.command.ProcessStop;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cluster.ClusterException;
import org.softrdma.cluster.ClusterNode;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.cluster.ZooKeeperMembership;
import org.softrdma.farm.node.FarmException;
import org.softrdma.farm.node.FarmNodeContext;
import org.softrdma.net.transport.AddressText;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softrdma farm node}: a machine of a cluster. */
@Command(
        name = "node",
        description = {
            "Run a machine of a cluster; the first one creates the cluster.",
            "A machine that is paused or cut off from ZooKeeper for longer than its session loses its membership and"
                    + " exits; started again, it joins as a new machine. A study, not a database."
        })
final class FarmNodeCommand implements Callable<Integer> {
    /** What {@link LocalCluster} asks, and how the answer begins. */
    static final String COUNTERS = "counters";

    private static final double MS_PER_SECOND = 1e3;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Mixin
    private ClusterOptions cluster = new ClusterOptions();

    @Mixin
    private SpaceOptions space = new SpaceOptions();

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:0",
            description = "Address that the other machines connect to (${DEFAULT-VALUE}); port 0 picks a free one.")
    private String listen = "";

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            description =
                    "Memory that the machine adds to the address space (one region). It also holds replicas of other"
                            + " machines' regions. With 0 it has neither.")
    private @Nullable String memory;

    @Option(names = "--until-input-ends", description = "Leave when standard input ends.")
    private boolean untilInputEnds;

    FarmNodeCommand() {}

    @Override
    public Integer call() {
        try {
            ClusterSettings wanted = space.settings();
            InetSocketAddress address = HostPort.listener("--listen", listen);
            if (address.getAddress().isAnyLocalAddress()) {
                throw new UserErrorException(
                        "--listen " + listen + ": expected the address that the other machines connect to");
            }
            ZooKeeperMembership membership = cluster.join(wanted);
            return run(membership, address);
        } catch (ClusterException | FarmException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
    }

    private int run(ZooKeeperMembership membership, InetSocketAddress address) {
        ProcessStop stop = new ProcessStop(new CountDownLatch(1));
        try (ClusterNode node = start(membership, address, stop::stop)) {
            PrintWriter out = spec.commandLine().getOut();
            out.println("machine " + node.machine() + " of cluster '" + cluster.name() + "' at "
                    + AddressText.of(membership.listening()) + ", " + membership.settings() + ", session "
                    + membership.sessionMs() + " ms");
            out.flush();
            stop.await(untilInputEnds ? System.in : null, line -> tellCounters(node, line));
            return node.isOver() ? tellEnd(node) : ExitCode.OK;
        } finally {
            stop.closed();
        }
    }

    /** A line {@code counters} asks for what the device has done for others: for commands that measure. */
    private void tellCounters(ClusterNode node, String line) {
        if (line.equals(COUNTERS)) {
            PrintWriter out = spec.commandLine().getOut();
            out.println(
                    COUNTERS + " " + LocalCluster.Counters.of(node.counters()).text());
            out.flush();
        }
    }

    private ClusterNode start(ZooKeeperMembership membership, InetSocketAddress address, Runnable onEnd) {
        try {
            space.requireSame(cluster.name(), membership.settings());
            FarmNodeContext context = memory(membership.context(address), membership);
            membership.outages(new Outages());
            return ClusterNode.start(() -> ClientOfCluster.open(provider), membership, context, onEnd);
        } catch (RuntimeException e) {
            membership.close();
            if (address.getPort() != 0 // else it is a port of the device that is taken
                    && e instanceof VerbsException failure
                    && failure.code() == VerbsErrorCode.ADDRESS_IN_USE) {
                throw new UserErrorException("--listen " + listen + ": the port is taken; port 0 picks a free one", e);
            }
            throw e;
        }
    }

    private FarmNodeContext memory(FarmNodeContext context, ZooKeeperMembership membership) {
        if (memory == null) {
            return context;
        }
        long region = membership.settings().regionBytes();
        long bytes = ByteSize.parse(memory);
        if (bytes % region != 0) {
            throw new UserErrorException("--memory " + memory + ": expected regions of " + ByteSize.format(region)
                    + ", so a multiple of that");
        }
        return bytes == 0 ? context.withoutMemory() : context.regions(Math.toIntExact(bytes / region));
    }

    /** Says that ZooKeeper is away. */
    private final class Outages implements ZooKeeperMembership.OutageEvents {
        @Override
        public void onOutage(long ms) {
            complain(String.format(
                    Locale.ROOT,
                    "no server of ZooKeeper has been there for %.1f s: reads and transactions wait for one",
                    ms / MS_PER_SECOND));
        }

        @Override
        public void onEndOfOutage(long ms) {
            complain(String.format(Locale.ROOT, "ZooKeeper is there again, after %.1f s", ms / MS_PER_SECOND));
        }
    }

    private void complain(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(spec.qualifiedName() + ": " + line);
        err.flush();
    }

    private int tellEnd(ClusterNode node) {
        String why = node.failure()
                .map(failure -> "failed: " + failure)
                .orElse("is no member any more: its session ended because it stood still or was cut off from ZooKeeper,"
                        + " or it was removed. Start it again: it will be a new machine");
        complain("machine " + node.machine() + " " + why);
        return ExitCode.FAILED;
    }
}
