package org.softrdma.cli.farm;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.cli.command.ProcessStop;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cluster.ClusterException;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.cluster.ClusterView;
import org.softrdma.farm.membership.FarmConfiguration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softrdma farm local}: a cluster on this machine. */
@Command(
        name = "local",
        description = {
            "Run a ZooKeeper and the machines of a cluster as processes on this machine, until interrupted.",
            "A study, not a database: all data is in memory, and gone at the end."
        })
final class FarmLocalCommand implements Callable<Integer> {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Mixin
    private SpaceOptions space = new SpaceOptions();

    @Mixin
    private ZooKeepersOption zookeepers = new ZooKeepersOption();

    @Option(names = "--until-input-ends", description = "Stop when standard input ends.")
    private boolean untilInputEnds;

    FarmLocalCommand() {}

    @Override
    public Integer call() {
        ClusterSettings settings = space.settings();
        ProcessStop stop = new ProcessStop(new CountDownLatch(1));
        try (LocalCluster cluster = new LocalCluster(
                arguments -> OwnProgram.again(spec.root().userObject().getClass(), arguments),
                provider.arguments(),
                settings,
                zookeepers.count())) {
            cluster.addNodes(settings.machines());
            PrintWriter out = spec.commandLine().getOut();
            try (ClusterView view = cluster.view()) {
                awaitRegions(cluster, view);
                FarmStatusCommand.print(view, out);
            }
            out.println("ready: another shell sees it with `softrdma farm status "
                    + String.join(" ", ClusterOptions.arguments(cluster.servers(), cluster.name())) + "`");
            out.flush();
            stop.await(untilInputEnds ? System.in : null, line -> {});
            return ExitCode.OK;
        } catch (MeasurementException | ClusterException e) {
            return CommandFailure.tell(spec, e);
        } finally {
            stop.closed();
        }
    }

    /** Until the first epoch is active and each machine has made a region. */
    static void awaitRegions(LocalCluster cluster, ClusterView view) {
        long beganNs = System.nanoTime();
        int machines = view.settings().machines();
        for (; ; ) {
            FarmConfiguration configuration = view.configuration();
            if (configuration.epoch() > 0
                    && view.active() == configuration.epoch()
                    && configuration.regions().size() >= machines) {
                return;
            }
            cluster.requireAlive();
            if (System.nanoTime() - beganNs > PATIENCE_NS) {
                throw new MeasurementException("after " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS)
                        + " s the machines have not begun: " + view.alive().size() + " of " + machines + " are there");
            }
            LockSupport.parkNanos(LOOK_NS);
        }
    }
}
