package org.softrdma.cli.server;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.cli.command.ProgramVersion;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.Signals;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.Passwords;
import org.softrdma.kv.server.ProcessEnd;
import org.softrdma.net.transport.AddressText;
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
        versionProvider = ProgramVersion.class,
        description = {
            "Serve key-value pairs to memcached clients (text, meta and binary protocol) and to RDMA clients, which"
                    + " GET by one-sided READ. Options have memcached's names.",
            "Anyone who can connect can read and change everything, unless -Y requires passwords. Passwords"
                    + " and data travel in the clear unless -Z encrypts them; READs are never encrypted. Use a"
                    + " trusted network, or -l 127.0.0.1."
                    + " docs/guide/security.md says who can read what."
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

    @Mixin
    private DiagnosisOptions diagnosis = new DiagnosisOptions();

    @Mixin
    private IdleOptions idle = new IdleOptions();

    @Mixin
    private TlsOptions tls = new TlsOptions();

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
                    + " and no_modern (both) turn off the background search for expired items."
                    + " docs/reference/memcached-options.md lists all words.")
    private List<String> extended = List.of();

    @Option(
            names = {"-u", "--user"},
            paramLabel = "NAME",
            description = "Become this user before opening anything, if root starts the server. Only root can switch"
                    + " users.")
    private @Nullable String user;

    @Option(
            names = {"-d", "--daemon"},
            description = "Run in the background: the command ends when the server has started. From then on messages"
                    + " are dropped, unless -v is given.")
    private boolean daemon;

    @Option(
            names = {"-i", "--license"},
            description = "Show the license and exit.")
    private boolean showLicense;

    @Option(
            names = "--metrics-port",
            paramLabel = "N",
            description =
                    "Serve statistics to Prometheus at http://ADDRESS:N/metrics, on the first address of the RDMA port;"
                            + " 0 picks a free port (off).")
    private @Nullable Integer metricsPort;

    @Option(names = "--in-background", hidden = true, description = "This is the server that -d has started.")
    private boolean inBackground;

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
                    + " before other commands and before RDMA. Needs a device with private data. A client that has"
                    + " logged in can read and change everything.")
    private @Nullable Path authFile;

    @Option(
            names = {"-S", "--enable-sasl"},
            description = "Let clients of the binary protocol log in by SASL PLAIN, with the passwords of -Y. With -Y"
                    + " but without -S, only the text protocol works.")
    private boolean sasl;

    @Option(
            names = "--wipe",
            description = "Overwrite the key and value of an item once it is deleted, replaced, evicted or"
                    + " expired. Otherwise they stay where clients can READ them until the memory is reused.")
    private boolean wipe;

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
        if (showLicense) {
            spec.commandLine()
                    .getOut()
                    .println("softrdma, Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0");
            return ExitCode.OK;
        }
        if (inBackground) {
            Background.leaveSession();
        }
        checkOptions();
        Optional<String> fewDescriptors = listening.descriptorWarning(); // before root is somebody else
        if (user != null) {
            ProcessUser.become(user);
        }
        if (daemon && !inBackground) {
            return Background.start(again(), spec.commandLine().getOut());
        }
        fewDescriptors.ifPresent(this::warn);
        memory.warning(machineBytes()).ifPresent(text -> warn(text + "."));
        return serve();
    }

    /** The memory of the machine, or of the container; no limit where the system does not tell. */
    private static long machineBytes() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : Long.MAX_VALUE;
    }

    /** The command line of this process, for the server that -d starts. */
    private List<String> again() {
        List<String> arguments =
                new ArrayList<>(spec.root().commandLine().getParseResult().originalArgs());
        arguments.add("--in-background");
        return OwnProgram.again(spec.root().userObject().getClass(), arguments);
    }

    private int serve() {
        @Nullable Path socket = listening.unixSocket();
        CountDownLatch stopped = new CountDownLatch(1);
        endBySignal("TERM");
        endBySignal("INT");
        ProcessEnd processEnd = new ProcessEnd("softrdma server");
        KvServerContext context = context(stopped, processEnd);
        Thread.setDefaultUncaughtExceptionHandler((_, cause) -> processEnd.accept(cause));
        try (VerbsDevice device = open();
                StoppableServer server = new StoppableServer(KvServer.start(device, context), stopped);
                @Nullable MetricsPort metrics = openMetrics(server, context);
                @Nullable PidFile _ = pidFile == null ? null : PidFile.write(pidFile, this::warn)) {
            heedSignals(server, context);
            @Nullable String portFile = System.getenv(PortFile.VARIABLE);
            if (portFile != null && socket == null) {
                PortFile.write(Path.of(portFile), server.memcachedAddresses());
            }
            PrintWriter out = spec.commandLine().getOut();
            out.println("memcached: "
                    + (socket == null
                            ? server.memcachedAddresses().stream()
                                    .map(AddressText::of)
                                    .collect(Collectors.joining(", "))
                            : socket));
            out.println("rdma: "
                    + server.rdmaAddresses().stream().map(AddressText::of).collect(Collectors.joining(", "))
                    + ", device " + device.name());
            if (metrics != null) {
                out.println("metrics: http://" + AddressText.of(metrics.address()) + "/metrics");
            }
            out.println(Background.LAST_LINE + device.pinning());
            out.flush();
            if (inBackground && verbosity() == 0) {
                Background.leaveStreams();
            }
            server.await(untilInputEnds ? System.in : null);
            Thread.setDefaultUncaughtExceptionHandler(null); // what fails from here on fails a server that ends
            return ExitCode.OK;
        } catch (VerbsException e) {
            if (e.code() == VerbsErrorCode.ADDRESS_IN_USE) {
                // Of any port that is free, it is another one that is taken: on RoCEv2 the device's.
                String option = listening.rdmaPort() == 0 ? "" : "--rdma-port " + listening.rdmaPort() + ": ";
                throw new UserErrorException(option + e.getMessage() + ".", e);
            }
            if (socket != null && !listening.hasAddress() && e.code() == VerbsErrorCode.ADDRESS_NOT_AVAILABLE) {
                warn("with -s the RDMA port listens on 127.0.0.1, which this device does not have: name one"
                        + " of its addresses with -l.");
            }
            return CommandFailure.tell(spec, e);
        } catch (IllegalArgumentException e) {
            return CommandFailure.tell(spec, e);
        } catch (UncheckedIOException e) {
            throw new UserErrorException(e.getMessage() + ".", e);
        }
    }

    private @Nullable MetricsPort openMetrics(StoppableServer server, KvServerContext context) {
        return metricsPort == null
                ? null
                : new MetricsPort(
                        new InetSocketAddress(context.rdmaAddress(), metricsPort),
                        context.isRdmaIpv6Only(),
                        server::statistics);
    }

    /** As memcached: in order, and with 0. The process waits for whoever closes the server. */
    private static void endBySignal(String name) {
        Signals.handle(name, () -> System.exit(ExitCode.OK));
    }

    /** As memcached: USR1 ends the server once it has answered, HUP reads the passwords again. */
    private void heedSignals(StoppableServer server, KvServerContext context) {
        Signals.handle("USR1", server::stopGracefully);
        Passwords passwords = context.passwords();
        Path file = authFile;
        Signals.handle("HUP", () -> {
            if (passwords != null && file != null) {
                try {
                    passwords.become(Passwords.read(file));
                } catch (IOException e) {
                    warn("-Y " + e.getMessage() + "; the passwords are unchanged.");
                }
            }
        });
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

    KvServerContext context(CountDownLatch stopped, ProcessEnd processEnd) {
        try {
            checkOptions();
            idle.warnings().forEach(this::warn);
            KvServerContext context = new KvServerContext()
                    .flushAllowed(!noFlush)
                    .verbosity(verbosity())
                    .items(items -> items.wiping(wipe))
                    .fatalErrors(processEnd)
                    .sasl(sasl)
                    .version(ReportedVersion.here());
            listening.apply(context);
            memory.apply(context);
            diagnosis.apply(context);
            ExtendedOptions.apply(tls.apply(extended, context), context).forEach(each -> warn(each + "."));
            if (authFile != null) {
                context.passwords(Passwords.read(authFile));
            }
            if (debugTime) {
                AtomicLong moved = new AtomicLong();
                LongSupplier clock = context.environment().clockSeconds();
                context.environment(around -> around.withClockSeconds(() -> clock.getAsLong() + moved.get()))
                        .moveClock(moved::addAndGet);
            }
            if (shutdownCommand) {
                context.shutdown(stopped::countDown);
            }
            return context.conclude();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        } catch (UnknownHostException e) {
            throw new UserErrorException("-l " + listening.addresses() + ": no such address.", e);
        } catch (IOException e) {
            throw new UserErrorException("-Y " + e.getMessage() + ".", e);
        }
    }

    /** In the words and units of the options, before anything is made of them. */
    private void checkOptions() {
        OptionFaults faults = new OptionFaults();
        try {
            listening.check(faults);
            memory.check(faults);
            diagnosis.check(faults);
            idle.check(faults);
        } catch (IllegalArgumentException e) { // what is no number at all
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        if (!faults.isEmpty()) {
            throw new ParameterException(spec.commandLine(), faults.toString());
        }
    }

    /** Options of memcached that mean nothing here do not keep a server from starting, but it says so. */
    private void warn(String text) {
        spec.commandLine().getErr().println("softrdma server: " + text);
        spec.commandLine().getErr().flush();
    }

    /** How often -v was given, to the launcher or to us. */
    private int verbosity() {
        boolean[] given = spec.findOption("-v").getValue();
        return given == null ? 0 : given.length;
    }
}
