package org.softrdma.kv.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Stock memcached on a free port of the loopback address; the test is skipped if it is not installed. */
final class MemcachedProcess implements AutoCloseable {
    private static final long START_NS = TimeUnit.SECONDS.toNanos(10);

    private final Process process;
    private final InetSocketAddress address;

    MemcachedProcess() throws IOException {
        boolean installed = Arrays.stream(System.getenv("PATH").split(":", -1))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, "memcached")));
        Assumptions.assumeTrue(installed, "memcached is not installed; ./ci/install installs it");
        address = new InetSocketAddress(InetAddress.getLoopbackAddress(), freePort());
        process = new ProcessBuilder(List.of(
                        "memcached",
                        "-l",
                        "127.0.0.1",
                        "-p",
                        Integer.toString(address.getPort()),
                        "-U",
                        "0",
                        "-m",
                        "64",
                        "-u",
                        System.getProperty("user.name")))
                .inheritIO()
                .start();
        awaitStart();
    }

    InetSocketAddress address() {
        return address;
    }

    static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    private void awaitStart() throws IOException {
        long deadlineNs = System.nanoTime() + START_NS;
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(address, 1000);
                return;
            } catch (IOException e) {
                if (!process.isAlive() || System.nanoTime() > deadlineNs) {
                    close();
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
