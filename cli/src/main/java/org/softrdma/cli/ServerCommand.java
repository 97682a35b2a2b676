package org.softrdma.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.verbs.VerbsDevice;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma server}: a memcached whose items can be READ. Options are named as memcached's. */
@Command(
        name = "server",
        description = {
            "Serve keys and values to memcached clients (text protocol), and to RDMA clients by one-sided READ.",
            "Commands: get, gets, set, delete, version, stats, quit. Nothing is evicted yet: once the memory limit is"
                    + " reached, set answers SERVER_ERROR out of memory storing object. Anybody who can connect can"
                    + " read and change everything: keep it on a trusted network, or on -l 127.0.0.1."
        })
final class ServerCommand implements Callable<Integer> {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(
            names = {"-p", "--port"},
            paramLabel = "N",
            defaultValue = "11211",
            description = "TCP port of the memcached protocol, 0 for any free one (${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "ADDRESS",
            defaultValue = "0.0.0.0",
            description = "Address to listen on (${DEFAULT-VALUE}, all).")
    private String address = "";

    @Option(
            names = "--rdma-port",
            paramLabel = "N",
            defaultValue = "0",
            description = "Port where queue pairs are connected; clients are told (${DEFAULT-VALUE}: any free one).")
    private int rdmaPort;

    @Option(
            names = {"-m", "--memory-limit"},
            paramLabel = "MB",
            defaultValue = "64",
            description = "Memory for items in megabytes (${DEFAULT-VALUE}).")
    private long memoryLimit;

    @Option(
            names = {"-I", "--max-item-size"},
            paramLabel = "SIZE",
            defaultValue = "1m",
            description = "Longest item with key and header, 1k to 15m (${DEFAULT-VALUE}).")
    private String maxItemSize = "";

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "4",
            description = "Threads of the memcached port (${DEFAULT-VALUE}).")
    private int threads;

    @Option(
            names = {"-c", "--conn-limit"},
            paramLabel = "N",
            defaultValue = "1024",
            description = "Most connections (${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = {"-f", "--slab-growth-factor"},
            paramLabel = "FACTOR",
            defaultValue = "1.25",
            description = "Growth of chunk sizes (${DEFAULT-VALUE}).")
    private double factor;

    @Option(
            names = {"-n", "--slab-min-size"},
            paramLabel = "BYTES",
            defaultValue = "48",
            description = "Least space for key and value (${DEFAULT-VALUE}).")
    private int minimumSpace;

    @Option(
            names = "--until-input-ends",
            hidden = true,
            description = "Stop when the standard input is closed: for children of another process.")
    private boolean untilInputEnds;

    ServerCommand() {}

    @Override
    public Integer call() {
        KvServerContext context = context();
        try (VerbsDevice device = PerfSupport.open(provider, Map.of("progress", "engine"));
                Stoppable server = new Stoppable(KvServer.start(device, context))) {
            PrintWriter out = spec.commandLine().getOut();
            out.println("memcached: " + text(server.server.memcachedAddress()));
            out.println("rdma: " + text(server.server.rdmaAddress()) + ", device " + device.name());
            out.flush();
            server.await(untilInputEnds ? System.in : null);
            return Main.EXIT_OK;
        } catch (VerbsException | IllegalArgumentException e) {
            return PerfSupport.failed(spec, e);
        } catch (UncheckedIOException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        }
    }

    private KvServerContext context() {
        try {
            return new KvServerContext()
                    .memcachedAddress(new InetSocketAddress(InetAddress.getByName(address), port))
                    .rdmaPort(rdmaPort)
                    .threads(threads)
                    .maxConnections(connections)
                    .memoryLimit(memoryLimit * MIB)
                    .maxItemLength(itemSize(maxItemSize))
                    .slabFactor(factor)
                    .minimumSpace(minimumSpace)
                    .version(version())
                    .conclude();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        } catch (UnknownHostException e) {
            throw new UserErrorException("-l " + address + ": no such address.", e);
        }
    }

    /** memcached's form: bytes, or a number with k or m. */
    private static int itemSize(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        int unit = lower.endsWith("k") ? KIB : lower.endsWith("m") ? MIB : 1;
        try {
            return Math.multiplyExact(
                    Integer.parseInt(unit == 1 ? lower : lower.substring(0, lower.length() - 1)), unit);
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException("-I " + text + ": not a size such as 512k or 2m", e);
        }
    }

    private static String version() {
        @Nullable String version = ServerCommand.class.getPackage().getImplementationVersion();
        return "softrdma-" + (version == null ? "unpacked" : version);
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    /** A server that ends in order whatever ends the process: a signal, the end of the input, a failure. */
    private static final class Stoppable implements AutoCloseable {
        private final KvServer server;
        private final CountDownLatch stopped = new CountDownLatch(1);
        private final CountDownLatch closed = new CountDownLatch(1);
        private final Thread hook = new Thread(this::stop, "stop");

        Stoppable(KvServer server) {
            this.server = server;
            Runtime.getRuntime().addShutdownHook(hook);
        }

        /** Waits until it is stopped. */
        void await(@Nullable InputStream input) {
            try {
                if (input == null) {
                    stopped.await();
                } else {
                    input.transferTo(OutputStream.nullOutputStream());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A signal came: lets the main thread close everything before the process ends. */
        private void stop() {
            stopped.countDown();
            try {
                closed.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void close() {
            server.close();
            closed.countDown();
        }
    }
}
