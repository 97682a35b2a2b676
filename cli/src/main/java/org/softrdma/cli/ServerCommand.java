package org.softrdma.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.Passwords;
import org.softrdma.kv.server.ProcessEnd;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma server}: a memcached whose items can be READ. Options are named as memcached's. */
@Command(
        name = "server",
        versionProvider = Main.Version.class,
        description = {
            "Serve keys and values to memcached clients (text and meta protocol), and to RDMA clients by one-sided"
                    + " READ. Options are named as memcached's.",
            "Anybody who can connect can read and change everything, unless -Y asks for passwords, which travel in the"
                    + " clear like all else: keep it on a trusted network, or on -l 127.0.0.1. docs/security.md says who can"
                    + " read what."
        })
final class ServerCommand implements Callable<Integer> {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final int MAX_PORT = 65535;
    private static final int MAX_THREADS = 1024;
    private static final int MAX_ITEM_MIB = 15;
    private static final long MAX_MEGABYTES = 1L << 26;
    private static final int OCTAL = 8;
    private static final String ALL_ADDRESSES = "0.0.0.0";
    private static final String EAGER = "eager";
    private static final List<String> PINNINGS = List.of("auto", "lazy", EAGER, "off");

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
            description =
                    "Address to listen on, of the TCP port and of the RDMA port (0.0.0.0, all; with -s 127.0.0.1, for the RDMA"
                            + " port).")
    private @Nullable String address;

    @Option(
            names = "--rdma-port",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Port where queue pairs are connected, on the address of -l; clients are told (${DEFAULT-VALUE}: any"
                            + " free one).")
    private int rdmaPort;

    @Option(
            names = "--registration",
            paramLabel = "HOW",
            defaultValue = "arena",
            description =
                    "arena: items are read by the place where they are, on every device. chunk: each chunk of memory"
                            + " has a key of its own, which stays with an item while it is replaced, and is read whole; needs a"
                            + " device that can swap regions (${DEFAULT-VALUE}).")
    private String registration = "";

    @Option(
            names = {"-s", "--unix-socket"},
            paramLabel = "FILE",
            description =
                    "Unix socket of the memcached protocol, instead of the TCP port. The RDMA port is on 127.0.0.1 then,"
                            + " unless -l says otherwise.")
    private @Nullable Path unixSocket;

    @Option(
            names = {"-a", "--unix-mask"},
            paramLabel = "MASK",
            defaultValue = "0700",
            description = "Rights of the Unix socket, in octal digits (${DEFAULT-VALUE}).")
    private String unixMask = "";

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
            description = "Most connections, and most queue pairs (${DEFAULT-VALUE}).")
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
            description = "Length of the smallest chunks, less 48 (${DEFAULT-VALUE}).")
    private int minimumSpace;

    @Option(
            names = {"-M", "--disable-evictions"},
            description = "Answer SERVER_ERROR when memory is used up, instead of evicting items.")
    private boolean noEvictions;

    @Option(
            names = {"-F", "--disable-flush-all"},
            description = "Refuse flush_all.")
    private boolean noFlush;

    @Option(
            names = {"-A", "--enable-shutdown"},
            description = "Let clients stop the server by the shutdown command.")
    private boolean shutdownCommand;

    @Option(
            names = {"-b", "--listen-backlog"},
            paramLabel = "N",
            defaultValue = "1024",
            description = "Connections that may wait to be accepted (${DEFAULT-VALUE}).")
    private int backlog;

    @Option(
            names = "--pinning",
            paramLabel = "HOW",
            description =
                    "When the items' memory is locked in RAM: lazy (each part on its first use), eager (all at the start), off,"
                            + " or auto: lazy where the device can, else off (auto).")
    private @Nullable String pinning;

    @Option(
            names = "--pin-budget",
            paramLabel = "SIZE",
            description =
                    "Most memory that lazy pinning locks at once, such as 64m (as much as the limit of locked memory"
                            + " allows, half of the machine's at most).")
    private @Nullable String pinBudget;

    @Option(
            names = "--memory-file",
            paramLabel = "FILE",
            description =
                    "Keep items in a file of this name, which must not exist and loses its name at once, so that items"
                            + " that nobody asks for can leave RAM without swap.")
    private @Nullable Path memoryFile;

    @Option(
            names = {"-P", "--pidfile"},
            paramLabel = "FILE",
            description = "Write the process number to a file.")
    private @Nullable Path pidFile;

    @Option(
            names = {"-o", "--extended"},
            paramLabel = "OPTION",
            split = ",",
            description = "idle_timeout=SECONDS: close connections without requests; no_lru_maintainer, no_lru_crawler,"
                    + " no_modern (both): do not look for expired items in the background.")
    private List<String> extended = List.of();

    @Option(
            names = {"-U", "--udp-port"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Only 0: UDP is not offered.")
    private int udpPort;

    @Option(
            names = {"-B", "--protocol"},
            paramLabel = "NAME",
            defaultValue = "auto",
            description = "ascii or auto: the binary protocol is not offered.")
    private String protocol = "";

    @Option(
            names = {"-u", "--user"},
            paramLabel = "NAME",
            description = "Taken as memcached's, but the server stays the user that starts it.")
    @SuppressWarnings("UnusedVariable") // taken, and that is all
    private String user = "";

    @Option(
            names = {"-R", "--max-reqs-per-event"},
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Requests of a connection before others have their turn (${DEFAULT-VALUE}: all that one read from"
                            + " the network brought).")
    private int requestsPerEvent;

    @SuppressWarnings("UnusedVariable") // picocli acts on the option itself
    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version and exit.")
    private boolean showVersion;

    @Option(
            names = {"-Y", "--auth-file"},
            paramLabel = "FILE",
            description =
                    "Lines USER:PASSWORD: clients must log in first, by a set of any key to 'USER PASSWORD', also before"
                            + " they get a queue pair. Needs a device with private data. Whoever is in reads and changes everything.")
    private @Nullable Path authFile;

    @Option(
            names = "--wipe",
            description =
                    "Overwrite the key and value of an item when it was deleted, replaced, evicted or has expired;"
                            + " otherwise they stay where clients can READ them until the memory is used again.")
    private boolean wipe;

    @Option(names = "-C", hidden = true)
    private boolean noCas;

    @Option(
            names = {"-k", "--lock-memory"},
            description = "The same as --pinning eager.")
    private boolean lockMemory;

    @Option(
            names = {"-L", "--enable-largepages"},
            description = "Keep items in huge pages that the administrator has reserved; those are never paged out.")
    private boolean largePages;

    @Option(
            names = "--debugtime",
            hidden = true,
            description = "Let clients move the clock by the command debugtime: for tests.")
    private boolean debugTime;

    @Option(
            names = "--until-input-ends",
            hidden = true,
            description = "Stop when the standard input is closed: for children of another process.")
    private boolean untilInputEnds;

    ServerCommand() {}

    @Override
    public Integer call() {
        CountDownLatch stopped = new CountDownLatch(1);
        ProcessEnd processEnd = new ProcessEnd("softrdma server");
        KvServerContext context = context(stopped, processEnd);
        Thread.setDefaultUncaughtExceptionHandler((_, cause) -> processEnd.accept(cause));
        warn(noCas, "-C changes nothing: items always have cas numbers.");
        try (VerbsDevice device = open();
                Stoppable server = new Stoppable(KvServer.start(device, context), stopped)) {
            PrintWriter out = spec.commandLine().getOut();
            out.println("memcached: " + (unixSocket == null ? text(server.server.memcachedAddress()) : unixSocket));
            out.println("rdma: " + text(server.server.rdmaAddress()) + ", device " + device.name());
            out.println("pinning: " + device.pinning());
            out.flush();
            writePidFile();
            server.await(untilInputEnds ? System.in : null);
            Thread.setDefaultUncaughtExceptionHandler(null); // what fails from here on fails a server that ends
            removeQuietly(pidFile);
            removeQuietly(unixSocket);
            return Main.EXIT_OK;
        } catch (VerbsException e) {
            warn(
                    unixSocket != null && address == null && e.code() == VerbsErrorCode.ADDRESS_NOT_AVAILABLE,
                    "with -s the RDMA port is on 127.0.0.1, which this device does not have: give an address that it has by -l.");
            return PerfSupport.failed(spec, e);
        } catch (IllegalArgumentException e) {
            return PerfSupport.failed(spec, e);
        } catch (UncheckedIOException e) {
            throw new UserErrorException(e.getMessage() + ".", e);
        }
    }

    /** The device, pinned as the options say; a provider that cannot choose refuses any but the default. */
    private VerbsDevice open() {
        Map<String, String> asked = new LinkedHashMap<>();
        if (pinning != null || lockMemory) {
            asked.put("pinning", pinning != null ? pinning : EAGER);
        }
        if (pinBudget != null) {
            asked.put("pin-budget", pinBudget);
        }
        for (String option : asked.keySet()) {
            if (!provider.provider().options().containsKey(option)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "--" + option + ": the provider " + provider.provider().name()
                                + " pins as its driver does, leave it out");
            }
        }
        asked.put("progress", "engine");
        return PerfSupport.open(provider, asked);
    }

    private MemorySource memory() {
        if (memoryFile != null) {
            return new MemorySource.File(memoryFile);
        }
        return largePages ? new MemorySource.HugePages() : new MemorySource.Anonymous();
    }

    private KvServerContext context(CountDownLatch stopped, ProcessEnd processEnd) {
        try {
            checkOptions();
            KvServerContext context = new KvServerContext()
                    .rdmaPort(rdmaPort)
                    .threads(threads)
                    .maxConnections(connections)
                    .memoryLimit(memoryLimit * MIB)
                    .maxItemLength(itemSize())
                    .slabFactor(factor)
                    .minimumSpace(minimumSpace)
                    .registration(registration())
                    .evicting(!noEvictions)
                    .flushAllowed(!noFlush)
                    .backlog(backlog)
                    .verbosity(verbosity())
                    .memory(memory())
                    .requestsPerTurn(requestsPerEvent)
                    .wiping(wipe)
                    .fatalErrors(processEnd)
                    .version(version());
            if (address != null || unixSocket == null) {
                context.memcachedAddress(
                        new InetSocketAddress(InetAddress.getByName(address == null ? ALL_ADDRESSES : address), port));
            }
            if (unixSocket != null) {
                context.unixSocket(unixSocket, Integer.parseInt(unixMask, OCTAL));
            }
            ExtendedOptions.apply(extended, context);
            if (authFile != null) {
                context.passwords(Passwords.read(authFile));
            }
            if (debugTime) {
                AtomicLong moved = new AtomicLong();
                LongSupplier clock = context.clockSeconds();
                context.clockSeconds(() -> clock.getAsLong() + moved.get()).moveClock(moved::addAndGet);
            }
            if (shutdownCommand) {
                context.shutdown(stopped::countDown);
            }
            return context.conclude();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        } catch (UnknownHostException e) {
            throw new UserErrorException("-l " + address + ": no such address.", e);
        } catch (IOException e) {
            throw new UserErrorException("-Y " + e.getMessage() + ".", e);
        }
    }

    /** In the words and units of the options, before anything is made of them. */
    private void checkOptions() {
        List<String> faults = new ArrayList<>();
        check(faults, port >= 0 && port <= MAX_PORT, "-p " + port, "0 to " + MAX_PORT);
        check(faults, rdmaPort >= 0 && rdmaPort <= MAX_PORT, "--rdma-port " + rdmaPort, "0 to " + MAX_PORT);
        checkPinning(faults);
        check(faults, !largePages || memoryFile == null, "-L --memory-file " + memoryFile, "one of them");
        check(faults, udpPort == 0, "-U " + udpPort, "0, UDP is not offered");
        check(
                faults,
                memoryLimit >= 2 && memoryLimit <= MAX_MEGABYTES,
                "-m " + memoryLimit,
                "2 to " + MAX_MEGABYTES + " megabytes");
        int itemSize = itemSize();
        check(
                faults,
                itemSize >= KIB && itemSize <= MAX_ITEM_MIB * MIB,
                "-I " + maxItemSize,
                "1k to " + MAX_ITEM_MIB + "m");
        check(
                faults,
                memoryLimit >= 2L * itemSize / MIB,
                "-m " + memoryLimit,
                "at least twice the longest item, -I " + maxItemSize);
        check(faults, threads >= 1 && threads <= MAX_THREADS, "-t " + threads, "1 to " + MAX_THREADS);
        check(faults, connections >= 1, "-c " + connections, "at least 1");
        check(faults, requestsPerEvent >= 0, "-R " + requestsPerEvent, "at least 0");
        check(faults, factor >= 1.01 && factor <= 16, "-f " + factor, "1.01 to 16");
        check(faults, minimumSpace >= 1 && minimumSpace <= itemSize / 2, "-n " + minimumSpace, "1 to half of -I");
        check(faults, backlog >= 1 && backlog <= MAX_PORT, "-b " + backlog, "1 to " + MAX_PORT);
        check(
                faults,
                unixMask.matches("[0-7]{1,4}") && Integer.parseInt(unixMask, OCTAL) <= 0777,
                "-a " + unixMask,
                "0 to 0777");
        check(
                faults,
                protocol.equals("auto") || protocol.equals("ascii") || protocol.equals("auto-negotiate"),
                "-B " + protocol,
                "ascii or auto");
        if (!faults.isEmpty()) {
            throw new ParameterException(spec.commandLine(), String.join("; ", faults));
        }
    }

    private void checkPinning(List<String> faults) {
        check(
                faults,
                pinning == null || PINNINGS.contains(pinning),
                "--pinning " + pinning,
                "one of " + String.join(", ", PINNINGS));
        check(
                faults,
                !lockMemory || pinning == null || pinning.equals(EAGER),
                "-k --pinning " + pinning,
                "one of them");
        boolean noBudget = lockMemory || EAGER.equals(pinning) || "off".equals(pinning);
        check(
                faults,
                pinBudget == null || !noBudget,
                "--pin-budget " + pinBudget,
                "--pinning lazy or auto with it, a budget is for what is pinned lazily");
    }

    /** Options of memcached that mean nothing here do not keep a server from starting, but it says so. */
    private void warn(boolean given, String text) {
        if (given) {
            spec.commandLine().getErr().println("softrdma server: " + text);
            spec.commandLine().getErr().flush();
        }
    }

    private static void check(List<String> faults, boolean holds, String what, String expected) {
        if (!holds) {
            faults.add(what + ": expected " + expected);
        }
    }

    private KvServerContext.Registration registration() {
        return Stream.of(KvServerContext.Registration.values())
                .filter(each -> each.word().equals(registration))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("--registration " + registration + ": expected arena or chunk"));
    }

    /** How often -v was given, to the launcher or to us. */
    private int verbosity() {
        boolean[] given = spec.findOption("-v").getValue();
        return given == null ? 0 : given.length;
    }

    private void writePidFile() {
        if (pidFile != null) {
            try {
                Files.writeString(pidFile, ProcessHandle.current().pid() + "\n");
            } catch (IOException e) {
                throw new UserErrorException("-P " + pidFile + ": cannot be written: " + e.getMessage(), e);
            }
        }
    }

    private static void removeQuietly(@Nullable Path file) {
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                System.getLogger(ServerCommand.class.getName())
                        .log(System.Logger.Level.WARNING, file + " stays: " + e.getMessage());
            }
        }
    }

    private int itemSize() {
        return ExtendedOptions.size("-I " + maxItemSize, maxItemSize);
    }

    private static String version() {
        @Nullable String version = ServerCommand.class.getPackage().getImplementationVersion();
        return "softrdma-" + (version == null ? "unpacked" : version);
    }

    /** As it can be given to a client; the wildcard as IPv4 writes it. */
    private static String text(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host.isAnyLocalAddress()) {
            return "0.0.0.0:" + address.getPort();
        }
        String text = host.getHostAddress();
        return (host instanceof Inet6Address ? "[" + text + "]" : text) + ":" + address.getPort();
    }

    /** A server that ends in order whatever ends the process: a signal, the end of the input, a failure. */
    private static final class Stoppable implements AutoCloseable {
        private static final int CLOSE_TIMEOUT_SECONDS = 60;

        private final KvServer server;
        private final CountDownLatch stopped;
        private final CountDownLatch closed = new CountDownLatch(1);
        private final Thread hook = new Thread(this::stop, "stop");

        Stoppable(KvServer server, CountDownLatch stopped) {
            this.server = server;
            this.stopped = stopped;
            Runtime.getRuntime().addShutdownHook(hook);
        }

        /** Waits until it is stopped; by the end of the input as well, if there is one. */
        void await(@Nullable InputStream input) {
            if (input != null) {
                Thread.ofPlatform().daemon().name("input").start(() -> stopAtEnd(input));
            }
            try {
                stopped.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void stopAtEnd(InputStream input) {
            try {
                input.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                System.getLogger(ServerCommand.class.getName())
                        .log(System.Logger.Level.WARNING, "the standard input failed: " + e.getMessage());
            } finally {
                stopped.countDown();
            }
        }

        /** A signal came: lets the main thread close everything before the process ends, which it does in any case. */
        private void stop() {
            stopped.countDown();
            try {
                if (!closed.await(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                    System.getLogger(ServerCommand.class.getName())
                            .log(
                                    System.Logger.Level.ERROR,
                                    "the server did not close within " + CLOSE_TIMEOUT_SECONDS
                                            + " s; the process ends all the same");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void close() {
            try {
                server.close();
            } finally {
                closed.countDown(); // whatever went wrong: the process is to end
            }
        }
    }
}
