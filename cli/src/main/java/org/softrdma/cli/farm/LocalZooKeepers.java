package org.softrdma.cli.farm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.cluster.LocalZooKeeper;

/**
 * Servers of ZooKeeper as children of this process, which end with it: one, or an ensemble. Each of them comes back where it
 * was. One thread.
 */
final class LocalZooKeepers implements AutoCloseable {
    private static final long START_SECONDS = 120;
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    /** Below those that Linux gives to connections: so a port is free when a server comes back to it. */
    private static final int FIRST_PORT = 20_000;

    private static final int PORTS = 12_000;
    private static final int PORTS_EACH = 3;

    private final BiFunction<String, List<String>, Child> program;
    private final List<Server> servers = new ArrayList<>();

    /** One of them. */
    private static final class Server {
        private final InetSocketAddress address;
        private final List<String> options;
        private @Nullable Child child;

        Server(InetSocketAddress address, List<String> options) {
            this.address = address;
            this.options = options;
        }
    }

    /**
     * Starts them.
     *
     * @param program starts a command of {@code softrdma farm} with options
     * @param directory where they keep their state
     * @param count how many
     */
    LocalZooKeepers(BiFunction<String, List<String>, Child> program, Path directory, int count) {
        this.program = program;
        List<Integer> ports = freePorts(count * PORTS_EACH);
        String ensemble = IntStream.range(0, count)
                .mapToObj(i -> text(ports.get(i)) + ":" + ports.get(count + i))
                .collect(Collectors.joining(","));
        for (int i = 0; i < count; i++) {
            InetSocketAddress address = new InetSocketAddress(LOOPBACK, ports.get(2 * count + i));
            List<String> options = new ArrayList<>(List.of(
                    "--dir",
                    directory.resolve(String.valueOf(i + 1)).toString(),
                    "--listen",
                    text(address.getPort()),
                    "--until-input-ends"));
            if (count > 1) {
                options.addAll(List.of("--id", String.valueOf(i + 1), "--ensemble", ensemble));
            }
            servers.add(new Server(address, options));
        }
        try {
            restart();
        } catch (MeasurementException e) {
            close();
            throw e;
        }
    }

    private static String text(int port) {
        return LOOPBACK.getHostAddress() + ":" + port;
    }

    private static List<Integer> freePorts(int count) {
        List<ServerSocket> held = new ArrayList<>();
        try {
            for (int i = 0; held.size() < count; i++) {
                try {
                    held.add(new ServerSocket(
                            FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS), 1, LOOPBACK));
                } catch (IOException e) {
                    if (i == PORTS) {
                        throw new MeasurementException("no port is free for ZooKeeper: " + e.getMessage(), e);
                    }
                }
            }
            return held.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            CloseHelper.closeAll(held);
        }
    }

    /** Process numbers of those that run. */
    List<Long> processes() {
        List<Long> processes = new ArrayList<>();
        for (Server server : servers) {
            Child child = server.child;
            if (child != null) {
                processes.add(child.pid());
            }
        }
        return processes;
    }

    /** Where they are, for clients. */
    String servers() {
        return servers.stream().map(server -> text(server.address.getPort())).collect(Collectors.joining(","));
    }

    /** Starts those that do not run, and waits until they listen. */
    void restart() {
        List<Child> started = new ArrayList<>();
        for (Server server : servers) {
            if (server.child == null) {
                server.child = program.apply("zookeeper", server.options);
                started.add(server.child);
            }
        }
        for (Child child : started) {
            String ignored = child.await("zookeeper:", START_SECONDS);
        }
    }

    /** How many there are. */
    int count() {
        return servers.size();
    }

    private Optional<String> role(int server) {
        return LocalZooKeeper.role(servers.get(server).address);
    }

    /** True if all of them serve. */
    boolean areServing() {
        return IntStream.range(0, servers.size()).allMatch(i -> role(i).isPresent());
    }

    /**
     * Ends so many by SIGKILL, the one that leads among them.
     *
     * @return the number of that one, from 1 on
     */
    int kill(int count) {
        int leader = IntStream.range(0, servers.size())
                .filter(i -> role(i).filter(role -> !role.equals("follower")).isPresent())
                .findFirst()
                .orElseThrow(() -> new MeasurementException("no server of ZooKeeper leads"));
        for (int i = 0; i < count; i++) {
            kill(servers.get((leader + i) % servers.size()));
        }
        return leader + 1;
    }

    private static void kill(Server server) {
        Child child = server.child;
        server.child = null;
        if (child != null) {
            child.kill();
            child.close();
        }
    }

    /**
     * Ends the run if one has ended.
     *
     * @throws MeasurementException with what it said last
     */
    void requireAlive() {
        for (Server server : servers) {
            Child child = server.child;
            if (child != null && !child.isAlive()) {
                throw new MeasurementException("ZooKeeper at " + text(server.address.getPort())
                        + " has ended although nobody killed it: " + child.errorOutput());
            }
        }
    }

    @Override
    public void close() {
        for (Server server : servers) {
            Child child = server.child;
            if (child != null) {
                child.close();
            }
        }
    }
}
