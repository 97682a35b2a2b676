package org.softrdma.kv.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.softrdma.kv.server.RawMemcached;

/** Stock memcached on a port that it has chosen itself, of the loopback address; the test is skipped if it is not installed. */
public final class MemcachedProcess implements AutoCloseable {
    private static final long START_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int SHORTEST = 30;
    private static final int LONGEST = 300;
    private static final int ITEMS = 20;

    private final Process process;
    private final InetSocketAddress address;

    /**
     * Starts it; when this returns its port is open.
     *
     * @param options further ones
     */
    public MemcachedProcess(String... options) throws IOException {
        boolean installed = Arrays.stream(System.getenv("PATH").split(":", -1))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, "memcached")));
        Assumptions.assumeTrue(installed, "memcached is not installed; ./ci/install installs it");
        Path directory = Files.createTempDirectory("memcached");
        Path ports = directory.resolve("ports"); // there as a whole, once it listens
        try {
            ProcessBuilder command = new ProcessBuilder(new ArrayList<>(List.of(
                    "memcached",
                    "-l",
                    "127.0.0.1",
                    "-p",
                    "-1",
                    "-U",
                    "0",
                    "-m",
                    "64",
                    "-u",
                    System.getProperty("user.name"))));
            command.command().addAll(List.of(options));
            command.environment().put("MEMCACHED_PORT_FILENAME", ports.toString());
            process = command.inheritIO().start();
            address = new InetSocketAddress(InetAddress.getLoopbackAddress(), awaitPort(ports));
        } finally {
            Files.deleteIfExists(ports);
            Files.delete(directory);
        }
    }

    /**
     * Leaves minus signs in the memory that the next short items get. memcached 1.6.18 reads behind a number of 2^63 and
     * more, up to the first zero, and takes it for none if a minus is there; what it finds depends on luck otherwise.
     */
    public MemcachedProcess soiled() throws IOException {
        StringBuilder requests = new StringBuilder();
        for (int length = SHORTEST; length <= LONGEST; length += SHORTEST) {
            for (int i = 0; i < ITEMS; i++) {
                requests.append("set %d 0 0 %d noreply\r\n%s\r\n".formatted(i, length, "-".repeat(length)));
            }
            for (int i = 0; i < ITEMS; i++) {
                requests.append("delete %d noreply\r\n".formatted(i));
            }
        }
        try (RawMemcached client = new RawMemcached(address)) {
            client.ask(requests + "mn\r\n", "MN\r\n");
        }
        return this;
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return address;
    }

    /** Of a file with the line {@code TCP INET: 12345}. */
    private int awaitPort(Path ports) throws IOException {
        long deadlineNs = System.nanoTime() + START_NS;
        while (!Files.exists(ports)) {
            if (!process.isAlive() || System.nanoTime() > deadlineNs) {
                close();
                throw new IOException("memcached does not start");
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
        String line = Files.readAllLines(ports).getFirst();
        return Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
