package org.softrdma.kv.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;

/** Stock memcached on a port that it has chosen itself, of the loopback address; the test is skipped if it is not installed. */
public final class MemcachedProcess implements AutoCloseable {
    private static final long START_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Process process;
    private final InetSocketAddress address;

    /** Starts it; when this returns its port is open. */
    public MemcachedProcess() throws IOException {
        boolean installed = Arrays.stream(System.getenv("PATH").split(":", -1))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, "memcached")));
        Assumptions.assumeTrue(installed, "memcached is not installed; ./ci/install installs it");
        Path directory = Files.createTempDirectory("memcached");
        Path ports = directory.resolve("ports"); // there as a whole, once it listens
        try {
            ProcessBuilder command = new ProcessBuilder(List.of(
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
                    System.getProperty("user.name")));
            command.environment().put("MEMCACHED_PORT_FILENAME", ports.toString());
            process = command.inheritIO().start();
            address = new InetSocketAddress(InetAddress.getLoopbackAddress(), awaitPort(ports));
        } finally {
            Files.deleteIfExists(ports);
            Files.delete(directory);
        }
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
