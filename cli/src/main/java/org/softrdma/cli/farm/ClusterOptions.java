package org.softrdma.cli.farm;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cluster.ClusterException;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.cluster.ClusterView;
import org.softrdma.cluster.ZooKeeperMembership;
import picocli.CommandLine.Option;

/** Which cluster a command is for. */
final class ClusterOptions {
    @Option(
            names = "--zookeeper",
            paramLabel = "HOST:PORT,...",
            defaultValue = "127.0.0.1:2181",
            description = "ZooKeeper servers (${DEFAULT-VALUE}).")
    private String zookeeper = "";

    @Option(
            names = "--name",
            paramLabel = "NAME",
            defaultValue = "farm",
            description = "Name of the cluster (${DEFAULT-VALUE}).")
    private String name = "";

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "Longest wait for ZooKeeper (${DEFAULT-VALUE}).")
    private long timeoutSeconds;

    ClusterOptions() {}

    String name() {
        return name;
    }

    /** The options that name this cluster to a child process. */
    static List<String> arguments(String servers, String cluster) {
        return List.of("--zookeeper", servers, "--name", cluster);
    }

    /** Joins it. */
    ZooKeeperMembership join(ClusterSettings settings) {
        try {
            return ZooKeeperMembership.join(zookeeper, name, settings, timeoutNs());
        } catch (ClusterException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Looks at it.
     *
     * @param look does what the command is for
     * @return that this is done
     * @throws UserErrorException with what ZooKeeper, or what it keeps, says against it
     */
    int look(Consumer<ClusterView> look) {
        try (ClusterView view = ClusterView.open(zookeeper, name, timeoutNs())) {
            look.accept(view);
            return ExitCode.OK;
        } catch (ClusterException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        }
    }

    private long timeoutNs() {
        return TimeUnit.SECONDS.toNanos(timeoutSeconds);
    }
}
