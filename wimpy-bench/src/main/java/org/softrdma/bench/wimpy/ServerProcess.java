package org.softrdma.bench.wimpy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.softrdma.bench.cpu.Child;
import org.softrdma.bench.cpu.CpuClock;

/** A measured server: a child process with a memcached port on the loopback address. Ends with this process. */
final class ServerProcess implements AutoCloseable {
    private static final long START_SECONDS = 60;
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int CONNECT_MS = 1000;
    private static final int MIB = 1 << 20;

    private final Child child;
    private final InetSocketAddress address;
    private final CpuClock clock;

    private ServerProcess(Child child, InetSocketAddress address) {
        this.child = child;
        this.address = address;
        this.clock = CpuClock.ofProcess(child.pid());
    }

    /**
     * Starts {@code softrdma server} with its defaults, but one thread and enough memory.
     *
     * @param program the command that runs it
     * @param pinning what to put before the command
     * @param memoryBytes for items
     */
    static ServerProcess softrdma(List<String> program, List<String> pinning, long memoryBytes) {
        List<String> command = new ArrayList<>(pinning);
        command.addAll(program);
        command.addAll(List.of("-l", "127.0.0.1", "-p", "0", "-t", "1", "-m", megabytes(memoryBytes)));
        command.add("--until-input-ends");
        try {
            Child child = Child.start("softrdma server", command);
            try {
                String listening = child.await("memcached:", START_SECONDS);
                child.await("rdma:", START_SECONDS);
                int port = Integer.parseInt(listening.substring(listening.lastIndexOf(':') + 1));
                return new ServerProcess(child, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            } catch (IOException e) {
                child.close();
                throw e;
            }
        } catch (IOException e) {
            throw failure(e);
        }
    }

    /**
     * Starts memcached with its defaults, but one thread and enough memory.
     *
     * @param program its path
     * @param pinning what to put before the command
     * @param memoryBytes for items
     */
    static ServerProcess memcached(Path program, List<String> pinning, long memoryBytes) {
        try {
            InetSocketAddress address = freeAddress();
            List<String> command = new ArrayList<>(pinning);
            command.addAll(List.of(program.toString(), "-l", "127.0.0.1", "-p", Integer.toString(address.getPort())));
            command.addAll(List.of("-U", "0", "-t", "1", "-m", megabytes(memoryBytes)));
            if (ProcessHandle.current().info().user().orElse("").equals("root")) {
                command.addAll(List.of("-u", "root"));
            }
            ServerProcess server = new ServerProcess(Child.start("memcached", command), address);
            server.awaitPort();
            return server;
        } catch (IOException e) {
            throw failure(e);
        }
    }

    /** Where a program is: on the path, or where distributions put servers. */
    static Optional<Path> find(String program, String searchPath) {
        return Stream.concat(Stream.of(searchPath.split(":", -1)), Stream.of("/usr/bin", "/usr/sbin", "/usr/local/bin"))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private void awaitPort() throws IOException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (true) {
            try (Socket probe = new Socket()) {
                probe.connect(address, CONNECT_MS);
                return;
            } catch (IOException e) {
                if (!child.isAlive() || System.nanoTime() - deadlineNs > 0) {
                    String said = child.errorOutput();
                    child.close();
                    throw new IOException("memcached did not start: " + (said.isEmpty() ? e.getMessage() : said), e);
                }
                LockSupport.parkNanos(RETRY_NS);
            }
        }
    }

    private static InetSocketAddress freeAddress() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), socket.getLocalPort());
        }
    }

    private static String megabytes(long bytes) {
        return Long.toString((bytes + MIB - 1) / MIB);
    }

    private static WimpyException failure(IOException e) {
        return new WimpyException(String.valueOf(e.getMessage()), e);
    }

    /** Its memcached port. */
    InetSocketAddress address() {
        return address;
    }

    /** The CPU time of its threads. */
    CpuClock clock() {
        return clock;
    }

    @Override
    public void close() {
        child.close();
    }
}
