package org.softrdma.cluster;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.embedded.ExitHandler;
import org.apache.zookeeper.server.embedded.ZooKeeperServerEmbedded;

/**
 * One server of ZooKeeper in this process, to try FaRM with: it keeps its state in a directory, and goes on with what is
 * there. A cluster that shall survive the loss of a server needs three, installed as ZooKeeper's documentation says.
 */
public final class LocalZooKeeper implements AutoCloseable {
    private static final int TICK_MS = 200;
    private static final int LONGEST_SESSION_MS = 60_000;
    private static final long START_MS = TimeUnit.SECONDS.toMillis(30);

    private final ZooKeeperServerEmbedded server;
    private final String servers;

    private LocalZooKeeper(ZooKeeperServerEmbedded server, String servers) {
        this.server = server;
        this.servers = servers;
    }

    /**
     * Starts it.
     *
     * @param directory where it keeps its state; made if it is not there
     * @param address where it listens; port 0 for any
     * @throws ClusterException if it cannot
     */
    public static LocalZooKeeper start(Path directory, InetSocketAddress address) {
        Properties properties = new Properties();
        properties.setProperty("tickTime", String.valueOf(TICK_MS));
        properties.setProperty("maxSessionTimeout", String.valueOf(LONGEST_SESSION_MS));
        properties.setProperty("clientPort", String.valueOf(address.getPort()));
        properties.setProperty("clientPortAddress", address.getHostString());
        properties.setProperty("admin.enableServer", "false");
        ZooKeeperServerEmbedded server = null;
        try {
            properties.setProperty(
                    "dataDir",
                    Files.createDirectories(directory.resolve("data")).toString());
            server = ZooKeeperServerEmbedded.builder()
                    .baseDir(directory)
                    .configuration(properties)
                    .exitHandler(ExitHandler.LOG_ONLY)
                    .build();
            server.start(START_MS);
            return new LocalZooKeeper(server, server.getConnectionString());
        } catch (Exception e) { // what it declares
            if (server != null) {
                server.close();
            }
            throw new ClusterException(
                    "ZooKeeper does not start at " + address.getHostString() + ":" + address.getPort() + " with "
                            + directory + ": " + reason(e),
                    e);
        }
    }

    private static String reason(Exception failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && !(cause instanceof IOException)) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    /** Where it is, for clients. */
    public String servers() {
        return servers;
    }

    /** Stops it. */
    @Override
    public void close() {
        server.close();
    }
}
