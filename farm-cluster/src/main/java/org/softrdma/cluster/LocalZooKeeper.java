package org.softrdma.cluster;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.server.embedded.ExitHandler;
import org.apache.zookeeper.server.embedded.ZooKeeperServerEmbedded;
import org.apache.zookeeper.util.ServiceUtils;

/**
 * One server of ZooKeeper in this process, to try FaRM with: alone, or one of several. It keeps its state in a directory,
 * and goes on with what is there. A cluster that shall survive the loss of a server needs three.
 */
public final class LocalZooKeeper implements AutoCloseable {
    private static final int TICK_MS = 200;
    private static final int LONGEST_SESSION_MS = 60_000;
    /** Ticks until a server has joined the others; and that it may be behind them, or silent. */
    private static final int INIT_TICKS = 50;

    private static final int SYNC_TICKS = 15;
    private static final long START_MS = TimeUnit.SECONDS.toMillis(30);
    private static final int ROLE_MS = 1000;
    private static final String ROLE = "Mode: ";

    private final ZooKeeperServerEmbedded server;
    private final String servers;
    private volatile boolean closing;

    private LocalZooKeeper(ZooKeeperServerEmbedded server, String servers) {
        this.server = server;
        this.servers = servers;
    }

    /**
     * Starts one that is alone.
     *
     * @param directory where it keeps its state; made if it is not there
     * @param address where it listens; port 0 for any
     * @throws ClusterException if it cannot
     */
    public static LocalZooKeeper start(Path directory, InetSocketAddress address) {
        return start(directory, address, 0, List.of());
    }

    /**
     * Starts one of several. It serves when more than half of them have started.
     *
     * @param directory where it keeps its state; made if it is not there
     * @param address where it listens for clients; port 0 for any
     * @param id which of the servers it is, from 1 on
     * @param ensemble all servers, as {@code host:port:port}: for each other, and for their elections; none for one alone
     * @throws ClusterException if it cannot
     */
    public static LocalZooKeeper start(Path directory, InetSocketAddress address, int id, List<String> ensemble) {
        Properties properties = new Properties();
        properties.setProperty("tickTime", String.valueOf(TICK_MS));
        properties.setProperty("maxSessionTimeout", String.valueOf(LONGEST_SESSION_MS));
        properties.setProperty("initLimit", String.valueOf(INIT_TICKS));
        properties.setProperty("syncLimit", String.valueOf(SYNC_TICKS));
        properties.setProperty("clientPort", String.valueOf(address.getPort()));
        properties.setProperty("clientPortAddress", address.getHostString());
        properties.setProperty("admin.enableServer", "false");
        for (int i = 0; i < ensemble.size(); i++) {
            properties.setProperty("server." + (i + 1), ensemble.get(i));
        }
        ZooKeeperServerEmbedded server = null;
        try {
            Path data = Files.createDirectories(directory.resolve("data"));
            if (!ensemble.isEmpty()) {
                keepId(data.resolve("myid"), id);
            }
            properties.setProperty("dataDir", data.toString());
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

    private static void keepId(Path file, int id) throws IOException {
        String own = String.valueOf(id);
        if (!Files.exists(file)) {
            Files.writeString(file, own);
        }
        String kept = Files.readString(file).trim();
        if (!kept.equals(own)) {
            throw new IOException("it has the state of server " + kept + ", not of server " + own);
        }
    }

    private static String reason(Exception failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && !(cause instanceof IOException)) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    /**
     * What a server is that serves: {@code leader} or {@code follower} of several, or {@code standalone}. It serves only
     * while it knows a majority of its ensemble.
     *
     * @param address where it listens for clients
     */
    public static Optional<String> role(InetSocketAddress address) {
        try {
            String text = FourLetterWordMain.send4LetterWord(
                    address.getHostString(), address.getPort(), "srvr", false, ROLE_MS);
            return text.lines()
                    .filter(line -> line.startsWith(ROLE))
                    .map(line -> line.substring(ROLE.length()))
                    .findFirst();
        } catch (IOException | X509Exception.SSLContextException e) {
            return Optional.empty();
        }
    }

    /** Where it is, for clients. */
    public String servers() {
        return servers;
    }

    /**
     * Says who is told that it has ended by itself, as it does when it cannot write its state. ZooKeeper tells one in a process,
     * the last one.
     *
     * @param handler run once or more, by a thread of ZooKeeper
     */
    public void onEnd(Runnable handler) {
        ServiceUtils.setSystemExitProcedure(code -> {
            if (!closing) {
                handler.run();
            }
        });
    }

    /** Stops it. */
    @Override
    public void close() {
        closing = true;
        server.close();
    }
}
