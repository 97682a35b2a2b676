package org.softrdma.kv.server;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.MemorySource;

/** A server in a process of its own, to be killed: its main method, and the handle on it. */
public final class KvServerProcess implements AutoCloseable {
    /** The property for {@link KvServerContext#requestsPerTurn(int)}. */
    static final String REQUESTS_PER_TURN = "test.requests-per-turn";

    /** The property that shows items to clients of this host. */
    private static final String SAME_HOST = "test.same-host";

    private static final String READY = "ready ";

    private final Process process;
    private final InetSocketAddress address;

    /**
     * Starts one; when this returns its ports are open.
     *
     * @param port its memcached port, or 0 for a free one
     * @param sameHost true if it shows its items to clients of this host
     */
    public KvServerProcess(int port, boolean sameHost) throws IOException {
        this(port, ProcessBuilder.Redirect.INHERIT, "-Xmx128m", "-D" + SAME_HOST + "=" + sameHost);
    }

    /**
     * Starts one; when this returns its ports are open.
     *
     * @param port its memcached port, or 0 for a free one
     * @param errors where its error output goes
     * @param options for its JVM
     */
    KvServerProcess(int port, ProcessBuilder.Redirect errors, String... options) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of(options));
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), KvServerProcess.class.getName(), Integer.toString(port)));
        process = new ProcessBuilder(command).redirectError(errors).start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        if (line == null || !line.startsWith(READY)) {
            close();
            throw new IOException("the server's process said " + line);
        }
        address = loopback(line.substring(READY.length()));
    }

    private static InetSocketAddress loopback(String port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
    }

    /** Its memcached port. */
    InetSocketAddress address() {
        return address;
    }

    /** Lets the clock throw an Error on threads whose names begin so. */
    void failOn(String threads) throws IOException {
        process.outputWriter(StandardCharsets.UTF_8)
                .append(threads)
                .append('\n')
                .flush();
    }

    /** Stops it by SIGSTOP, or lets it go on by SIGCONT. */
    void signal(String name) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", "-s", name, Long.toString(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException("kill -s " + name + " ended with " + code);
        }
    }

    /** True if all its threads are stopped. */
    boolean isStopped() throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
            for (Path thread : threads.toList()) {
                String stat = Files.readString(thread.resolve("stat"));
                if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
        }
        return true;
    }

    /** Asks it to end, by SIGTERM. */
    void terminate() {
        process.toHandle().destroy(); // not the process's own, which ends its input too, and so its main method
    }

    /** Waits until it has ended; its exit code. */
    int awaitEnd() throws InterruptedException {
        return process.waitFor(40, TimeUnit.SECONDS) ? process.exitValue() : Integer.MIN_VALUE;
    }

    /** Kills it, by SIGKILL, and waits until it is dead. */
    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /**
     * The server; lives until its input ends, so that it never outlives the test.
     *
     * @param arguments the memcached port
     */
    public static void main(String[] arguments) throws IOException {
        AtomicReference<String> failing = new AtomicReference<>("nobody");
        KvServer server = KvServer.start(
                new SoftRdmaProvider().open(Map.of()),
                new KvServerContext()
                        .memcachedAddress(loopback(arguments[0]))
                        .threads(2)
                        .version("test")
                        .requestsPerTurn(Integer.getInteger(REQUESTS_PER_TURN, 0))
                        .items(items -> items.memory(
                                Boolean.getBoolean(SAME_HOST)
                                        ? new MemorySource.Shareable()
                                        : new MemorySource.Anonymous()))
                        .fatalErrors(new ProcessEnd("test server"))
                        .environment(around -> around.withClockSeconds(() -> {
                            if (Thread.currentThread().getName().startsWith(failing.get())) {
                                throw new InternalError("injected");
                            }
                            return System.nanoTime() / 1_000_000_000;
                        }))
                        .conclude());
        System.out.println(READY + server.memcachedAddress().getPort());
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            failing.set(line);
        }
        server.close();
        System.exit(0);
    }
}
