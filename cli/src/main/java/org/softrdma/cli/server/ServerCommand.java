package org.softrdma.cli.server;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProgramVersion;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.Passwords;
import org.softrdma.kv.server.ProcessEnd;
import org.softrdma.verbs.VerbsDevice;
import org.softrdma.verbs.VerbsErrorCode;
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
        versionProvider = ProgramVersion.class,
        description = {
            "Serve key-value pairs to memcached clients (text and meta protocol) and to RDMA clients, which"
                    + " GET by one-sided READ. Options have memcached's names.",
            "Anyone who can connect can read and change everything, unless -Y requires passwords. Passwords"
                    + " and data travel in the clear: use a trusted network, or -l 127.0.0.1."
                    + " docs/security.md says who can read what."
        })
public final class ServerCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Mixin
    private ListenOptions listening = new ListenOptions();

    @Mixin
    private MemoryOptions memory = new MemoryOptions();

    @Option(
            names = {"-F", "--disable-flush-all"},
            description = "Refuse flush_all.")
    private boolean noFlush;

    @Option(
            names = {"-A", "--enable-shutdown"},
            description = "Let clients stop the server with the shutdown command.")
    private boolean shutdownCommand;

    @Option(
            names = {"-P", "--pidfile"},
            paramLabel = "FILE",
            description = "Write the process ID to this file.")
    private @Nullable Path pidFile;

    @Option(
            names = {"-o", "--extended"},
            paramLabel = "OPTION",
            split = ",",
            description = "idle_timeout=SECONDS closes idle connections; no_lru_maintainer, no_lru_crawler"
                    + " and no_modern (both) turn off the background search for expired items.")
    private List<String> extended = List.of();

    @Option(
            names = {"-u", "--user"},
            paramLabel = "NAME",
            description = "Accepted for compatibility and ignored: the server runs as the user that starts it.")
    @SuppressWarnings("UnusedVariable") // taken, and that is all
    private String user = "";

    @SuppressWarnings("UnusedVariable") // picocli acts on the option itself
    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version and exit.")
    private boolean showVersion;

    @Option(
            names = {"-Y", "--auth-file"},
            paramLabel = "FILE",
            description = "Require a login. The file has lines USER:PASSWORD; a client sets any key to 'USER PASSWORD'"
                    + " before other commands and before RDMA. Needs a device with private data. A client that has logged"
                    + " in can read and change everything.")
    private @Nullable Path authFile;

    @Option(
            names = "--wipe",
            description = "Overwrite the key and value of an item once it is deleted, replaced, evicted or"
                    + " expired. Otherwise they stay where clients can READ them until the memory is reused.")
    private boolean wipe;

    @Option(names = "-C", hidden = true)
    private boolean noCas;

    @Option(
            names = "--debugtime",
            hidden = true,
            description = "Let clients move the clock with the debugtime command, for tests.")
    private boolean debugTime;

    @Option(
            names = "--until-input-ends",
            hidden = true,
            description = "Stop when standard input ends, for child processes.")
    private boolean untilInputEnds;

    ServerCommand() {}

    @Override
    public Integer call() {
        @Nullable Path socket = listening.unixSocket();
        CountDownLatch stopped = new CountDownLatch(1);
        ProcessEnd processEnd = new ProcessEnd("softrdma server");
        KvServerContext context = context(stopped, processEnd);
        Thread.setDefaultUncaughtExceptionHandler((_, cause) -> processEnd.accept(cause));
        warn(noCas, "-C is ignored: items always have CAS values.");
        try (VerbsDevice device = open();
                StoppableServer server = new StoppableServer(KvServer.start(device, context), stopped)) {
            PrintWriter out = spec.commandLine().getOut();
            out.println("memcached: " + (socket == null ? text(server.memcachedAddress()) : socket));
            out.println("rdma: " + text(server.rdmaAddress()) + ", device " + device.name());
            out.println("pinning: " + device.pinning());
            out.flush();
            writePidFile();
            server.await(untilInputEnds ? System.in : null);
            Thread.setDefaultUncaughtExceptionHandler(null); // what fails from here on fails a server that ends
            removeQuietly(pidFile);
            removeQuietly(socket);
            return ExitCode.OK;
        } catch (VerbsException e) {
            warn(
                    socket != null && listening.address() == null && e.code() == VerbsErrorCode.ADDRESS_NOT_AVAILABLE,
                    "with -s the RDMA port listens on 127.0.0.1, which this device does not have: name one"
                            + " of its addresses with -l.");
            return CommandFailure.tell(spec, e);
        } catch (IllegalArgumentException e) {
            return CommandFailure.tell(spec, e);
        } catch (UncheckedIOException e) {
            throw new UserErrorException(e.getMessage() + ".", e);
        }
    }

    /** The device, pinned as the options say; a provider that cannot choose refuses any but the default. */
    private VerbsDevice open() {
        Map<String, String> asked = memory.pinningOptions();
        for (String option : asked.keySet()) {
            if (!provider.provider().options().containsKey(option)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "--" + option + ": the provider " + provider.provider().name()
                                + " pins as its driver does; omit the option");
            }
        }
        asked.put("progress", "engine");
        return provider.openWithKnown(asked);
    }

    private KvServerContext context(CountDownLatch stopped, ProcessEnd processEnd) {
        try {
            checkOptions();
            KvServerContext context = new KvServerContext()
                    .flushAllowed(!noFlush)
                    .verbosity(verbosity())
                    .wiping(wipe)
                    .fatalErrors(processEnd)
                    .version("softrdma-" + ProgramVersion.number("unpacked"));
            listening.apply(context);
            memory.apply(context);
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
            throw new UserErrorException("-l " + listening.address() + ": no such address.", e);
        } catch (IOException e) {
            throw new UserErrorException("-Y " + e.getMessage() + ".", e);
        }
    }

    /** In the words and units of the options, before anything is made of them. */
    private void checkOptions() {
        OptionFaults faults = new OptionFaults();
        listening.check(faults);
        memory.check(faults);
        if (!faults.isEmpty()) {
            throw new ParameterException(spec.commandLine(), faults.toString());
        }
    }

    /** Options of memcached that mean nothing here do not keep a server from starting, but it says so. */
    private void warn(boolean given, String text) {
        if (given) {
            spec.commandLine().getErr().println("softrdma server: " + text);
            spec.commandLine().getErr().flush();
        }
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
                throw new UserErrorException("-P " + pidFile + ": cannot write the file: " + e.getMessage(), e);
            }
        }
    }

    private static void removeQuietly(@Nullable Path file) {
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                System.getLogger(ServerCommand.class.getName())
                        .log(System.Logger.Level.WARNING, file + " could not be deleted: " + e.getMessage());
            }
        }
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
}
