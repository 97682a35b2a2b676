package org.softrdma.cli.farm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cluster.ClusterException;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.cluster.ClusterView;
import org.softrdma.cluster.ZooKeeperMembership;
import picocli.CommandLine.Option;

/** Which cluster a command is for. */
final class ClusterOptions {
    private static final int MAX_PORT = 0xFFFF;

    @Option(
            names = "--zookeeper",
            paramLabel = "HOST:PORT,...",
            defaultValue = "127.0.0.1:2181",
            description = "Servers of ZooKeeper (${DEFAULT-VALUE}).")
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

    /** Looks at it. */
    ClusterView view() {
        try {
            return ClusterView.open(zookeeper, name, timeoutNs());
        } catch (ClusterException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        }
    }

    private long timeoutNs() {
        return TimeUnit.SECONDS.toNanos(timeoutSeconds);
    }

    /**
     * An address as {@code HOST:PORT}.
     *
     * @param option that has it
     * @param text its value
     */
    static InetSocketAddress address(String option, String text) {
        int colon = text.lastIndexOf(':');
        String port = text.substring(colon + 1);
        if (colon < 1 || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) > MAX_PORT) {
            throw new UserErrorException(option + " " + text + ": expected HOST:PORT");
        }
        try {
            return new InetSocketAddress(InetAddress.getByName(text.substring(0, colon)), Integer.parseInt(port));
        } catch (UnknownHostException e) {
            throw new UserErrorException(option + " " + text + ": no such host", e);
        }
    }

    /** An address as it is printed and parsed. */
    static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }
}
