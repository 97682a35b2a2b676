package org.softrdma.bench.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.measurement.MeasurementException;

/** A measured server: a child process with a port on an address of this machine. Ends with this process. */
public final class ServerProcess implements AutoCloseable {
    /** How long a server whose connections broke may take to end. */
    private static final long END_SECONDS = 2;
    /** 128 and SIGKILL. */
    private static final int KILLED = 137;

    private static final long START_SECONDS = 60;
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int CONNECT_MS = 1000;
    private static final int MIB = 1 << 20;

    private final Child child;
    private final InetSocketAddress address;

    private ServerProcess(Child child, InetSocketAddress address) {
        this.child = child;
        this.address = address;
    }

    /**
     * What every server gets.
     *
     * @param host the address that it listens on
     * @param pinning what to put before its command
     * @param threads how many serve
     * @param memoryBytes for items
     * @param connections most at a time
     */
    public record Resources(InetAddress host, List<String> pinning, int threads, long memoryBytes, int connections) {
        /** Copies the list. */
        public Resources {
            pinning = List.copyOf(pinning);
        }

        /** Of a server on the loopback address. */
        public Resources(List<String> pinning, int threads, long memoryBytes, int connections) {
            this(InetAddress.getLoopbackAddress(), pinning, threads, memoryBytes, connections);
        }

        /** The same, of a server that listens on another address. */
        public Resources at(InetAddress otherHost) {
            return new Resources(otherHost, pinning, threads, memoryBytes, connections);
        }

        /** As memcached and {@code softrdma server} take them. */
        private List<String> options() {
            return List.of(
                    "-t",
                    Integer.toString(threads),
                    "-m",
                    Long.toString((memoryBytes + MIB - 1) / MIB),
                    "-c",
                    Integer.toString(connections));
        }
    }

    /**
     * Starts {@code softrdma server} with its defaults but for the resources.
     *
     * @param program the command that runs it
     * @param resources what it gets
     * @param options further options
     * @throws MeasurementException if it does not start, with the first line of what it said
     */
    public static ServerProcess softrdma(List<String> program, Resources resources, List<String> options) {
        List<String> command = new ArrayList<>(resources.pinning);
        command.addAll(program);
        command.addAll(List.of("-l", resources.host.getHostAddress(), "-p", "0", "--until-input-ends"));
        command.addAll(resources.options());
        command.addAll(options);
        return speaking("softrdma server", command, resources.host, child -> {
            String address = child.await("memcached:", START_SECONDS);
            child.await("rdma:", START_SECONDS);
            return port(address);
        });
    }

    /**
     * Starts {@code softrdma store}.
     *
     * @param program the command that runs it
     * @param pinning what to put before its command
     * @param host the address that it listens on
     * @param options further options
     * @throws MeasurementException if it does not start, with the first line of what it said
     */
    public static ServerProcess store(
            List<String> program, List<String> pinning, InetAddress host, List<String> options) {
        List<String> command = new ArrayList<>(pinning);
        command.addAll(program);
        command.addAll(List.of("-l", host.getHostAddress(), "-p", "0", "--until-input-ends"));
        command.addAll(options);
        return speaking("softrdma store", command, host, child -> {
            String listening = child.await("store:", START_SECONDS);
            child.await("ready", START_SECONDS);
            return port(listening.substring(0, listening.indexOf(',')));
        });
    }

    /** Starts a program of ours, which says where it listens. */
    private static ServerProcess speaking(
            String name, List<String> command, InetAddress host, ToIntFunction<Child> listening) {
        try {
            Child child = Child.start(name, command);
            try {
                return new ServerProcess(child, new InetSocketAddress(host, listening.applyAsInt(child)));
            } catch (MeasurementException e) {
                String said = child.errorOutput();
                child.close();
                throw new MeasurementException(said.isEmpty() ? String.valueOf(e.getMessage()) : firstLine(said), e);
            }
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private static int port(String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /**
     * Starts memcached with its defaults but for the resources.
     *
     * @param program its path
     * @param resources what it gets
     * @param further more options
     */
    public static ServerProcess memcached(Path program, Resources resources, List<String> further) {
        List<String> options = new ArrayList<>(List.of("-l", resources.host.getHostAddress(), "-U", "0"));
        options.addAll(resources.options());
        options.addAll(further);
        if (ProcessHandle.current().info().user().orElse("").equals("root")) {
            options.addAll(List.of("-u", "root"));
        }
        return foreign("memcached", program, "-p", options, resources);
    }

    /**
     * Starts redis with its defaults but for the resources, and without writing anything to disk.
     *
     * @param program its path
     * @param resources what it gets
     */
    public static ServerProcess redis(Path program, Resources resources) {
        return redis(program, resources, List.of());
    }

    /**
     * The same with more options.
     *
     * @param program its path
     * @param resources what it gets
     * @param further more options
     */
    public static ServerProcess redis(Path program, Resources resources, List<String> further) {
        List<String> options = new ArrayList<>(List.of(
                "--bind",
                resources.host.getHostAddress(),
                "--save",
                "",
                "--appendonly",
                "no",
                "--io-threads",
                Integer.toString(resources.threads),
                "--maxmemory",
                Long.toString(resources.memoryBytes)));
        options.addAll(further);
        return foreign("redis-server", program, "--port", options, resources);
    }

    /**
     * Starts servers of etcd that belong together, with their logs on disk.
     *
     * @param program its path
     * @param directory where each server keeps its log
     * @param count how many
     */
    public static List<ServerProcess> etcd(Path program, Path directory, int count) {
        List<ServerProcess> servers = new ArrayList<>();
        try {
            List<String> peers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                peers.add("http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + freePort());
            }
            for (int i = 0; i < count; i++) {
                servers.add(startEtcd(program, directory, peers, i));
            }
            for (ServerProcess server : servers) {
                server.awaitPort("etcd");
            }
            return servers;
        } catch (IOException e) {
            servers.forEach(ServerProcess::close);
            throw failure(e);
        }
    }

    private static ServerProcess startEtcd(Path program, Path directory, List<String> peers, int number)
            throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), freePort());
        String clients = "http://" + address.getAddress().getHostAddress() + ":" + address.getPort();
        String cluster = IntStream.range(0, peers.size())
                .mapToObj(i -> "server" + i + "=" + peers.get(i))
                .collect(Collectors.joining(","));
        List<String> command = List.of(
                program.toString(),
                "--name",
                "server" + number,
                "--data-dir",
                directory.resolve("etcd" + number).toString(),
                "--listen-client-urls",
                clients,
                "--advertise-client-urls",
                clients,
                "--listen-peer-urls",
                peers.get(number),
                "--initial-advertise-peer-urls",
                peers.get(number),
                "--initial-cluster",
                cluster,
                "--logger",
                "zap",
                "--log-level",
                "error");
        return new ServerProcess(Child.start("etcd", command), address);
    }

    /** Starts a program that takes a port and says nothing when it is ready. */
    private static ServerProcess foreign(
            String name, Path program, String portOption, List<String> options, Resources resources) {
        try {
            InetSocketAddress address = new InetSocketAddress(resources.host, freePort());
            List<String> command = new ArrayList<>(resources.pinning);
            command.addAll(List.of(program.toString(), portOption, Integer.toString(address.getPort())));
            command.addAll(options);
            ServerProcess server = new ServerProcess(Child.start(name, command), address);
            server.awaitPort(name);
            return server;
        } catch (IOException e) {
            throw failure(e);
        }
    }

    /**
     * Where a program is.
     *
     * @param program its name
     * @param searchPath directories, as in {@code PATH}
     */
    public static Optional<Path> find(String program, String searchPath) {
        return Stream.of(searchPath.split(":", -1))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Where a program is on this process's {@code PATH}.
     *
     * @param program its name
     */
    public static Optional<Path> find(String program) {
        return find(program, System.getenv().getOrDefault("PATH", ""));
    }

    private void awaitPort(String name) throws IOException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (true) {
            try (Socket probe = new Socket()) {
                probe.connect(address, CONNECT_MS);
                return;
            } catch (IOException e) {
                if (!child.isAlive() || System.nanoTime() - deadlineNs > 0) {
                    String said = child.errorOutput();
                    close();
                    throw new IOException(
                            name + " did not start: " + (said.isEmpty() ? e.getMessage() : firstLine(said)), e);
                }
                LockSupport.parkNanos(RETRY_NS);
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("").strip();
    }

    private static MeasurementException failure(IOException e) {
        return new MeasurementException(String.valueOf(e.getMessage()), e);
    }

    /** The port that it was started for. */
    public InetSocketAddress address() {
        return address;
    }

    /** Its process number. */
    public long pid() {
        return child.pid();
    }

    /** What {@code softrdma store} says of itself now, by name. */
    public Map<String, Long> report() {
        child.send("report");
        Map<String, Long> report = new HashMap<>();
        for (String word : child.await("report:", START_SECONDS).split(" ", -1)) {
            int equals = word.indexOf('=');
            report.put(word.substring(0, equals), Long.valueOf(word.substring(equals + 1)));
        }
        return report;
    }

    /** Stops it where it is, so that it leaves its core to others; {@link #resume} lets it go on. */
    public void suspend() {
        child.suspend();
    }

    /** Lets it go on after {@link #suspend}. */
    public void resume() {
        child.resume();
    }

    /** A meter of its threads. */
    public ServerMeter meter() {
        return ServerMeter.ofProcess(CpuClock.ofProcess(child.pid()));
    }

    /**
     * Why a client could not go on.
     *
     * @param noticed what the client noticed
     * @return that the server has ended, if it has, else what the client noticed
     */
    public RuntimeException explain(RuntimeException noticed) {
        OptionalInt code = child.exitCode(END_SECONDS);
        if (code.isEmpty()) {
            return noticed;
        }
        return new MeasurementException(
                code.getAsInt() == KILLED
                        ? "the server was killed (exit code " + KILLED
                                + "), as the kernel does to a process that needs more memory than its"
                                + " control group allows"
                        : "the server ended with " + code.getAsInt() + ": " + firstLine(child.errorOutput()),
                noticed);
    }

    @Override
    public void close() {
        child.terminate();
        child.close();
    }
}
