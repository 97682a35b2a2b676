package org.softrdma.cli.store;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.DeviceProgress;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProcessStop;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.net.transport.AddressText;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreOptions;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma store}: a server of a store of a paper. */
@Command(
        name = "store",
        description = {
            "Serve one of the published store designs; `softrdma compare` compares them. Its clients are"
                    + " those of the Java class StoreDesigns, with the same --protocol, --window, --max-key and"
                    + " --max-value.",
            "A study, not for your data: anyone who can connect can read and change everything."
        })
public final class StoreCommand implements Callable<Integer> {
    private static final long LONGEST_SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SHORTEST_SLEEP_NS = TimeUnit.MICROSECONDS.toNanos(1);
    private static final long SPINS = 20;
    private static final int MAX_PORT = 0xFFFF;
    private static final String REPORT = "report";
    private static final String USUAL_MAX_VALUE = "4K";

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(names = "--design", paramLabel = "NAME", description = "Which store; --list names them.")
    private @Nullable String designName;

    @Option(names = "--list", description = "Show the designs, their papers and their options, and exit.")
    private boolean list;

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description = "Address to listen on (${DEFAULT-VALUE}).")
    private String listen = "";

    @Option(
            names = {"-p", "--port"},
            paramLabel = "N",
            defaultValue = "18515",
            description = "Port to listen on (${DEFAULT-VALUE}); 0 picks a free port.")
    private int port;

    @Option(
            names = "--protocol",
            paramLabel = "paper|safe",
            defaultValue = "safe",
            description = "paper: as published, known races included; safe: with our fixes (${DEFAULT-VALUE}).")
    private Protocol protocol = Protocol.SAFE;

    @Option(
            names = "--window",
            paramLabel = "N",
            defaultValue = "16",
            description = "Maximum outstanding operations of a client (${DEFAULT-VALUE}).")
    private int window;

    @Option(
            names = "--max-key",
            paramLabel = "SIZE",
            defaultValue = "250",
            description = "Length of the longest key (${DEFAULT-VALUE}).")
    private String maxKey = "";

    @Option(
            names = "--max-value",
            paramLabel = "SIZE",
            description = "Length of the longest value (4K, or less if the device carries less: herd's answers are"
                    + " datagrams).")
    private @Nullable String maxValue;

    @Option(
            names = {"-c", "--connections"},
            paramLabel = "N",
            defaultValue = "64",
            description = "Maximum number of clients (${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = "--option",
            paramLabel = "NAME=VALUE",
            description = "Set an option of the design. Repeatable; --list shows the options.")
    private Map<String, String> options = new LinkedHashMap<>();

    @Option(
            names = "--progress",
            paramLabel = "engine|manual",
            defaultValue = "engine",
            description = "engine: a thread of the device drives it; manual: the store's thread does"
                    + " (${DEFAULT-VALUE}).")
    private DeviceProgress progress = DeviceProgress.ENGINE;

    /** What the store's thread does when there is nothing to do. */
    enum Idle {
        /** Waits for ever longer times. */
        SLEEP,
        /** Looks again at once. */
        SPIN
    }

    @Option(
            names = "--idle",
            paramLabel = "sleep|spin",
            defaultValue = "sleep",
            description = "What the store's thread does when there is nothing to do: sleep up to 1 ms (with --progress"
                    + " manual in the device, until something comes), or look again at once, which takes a core"
                    + " (${DEFAULT-VALUE}).")
    private Idle idle = Idle.SLEEP;

    @Option(
            names = "--pin",
            paramLabel = "CPU",
            split = ",",
            description = "Run the threads of the store's workers on these CPUs, in turn. With --progress engine, the"
                    + " workers of herd, herd-rc and nessie-sd (--option workers=N) have threads of their own.")
    private List<Integer> pins = List.of();

    @Option(
            names = "--until-input-ends",
            hidden = true,
            description = "Stop when standard input ends, and answer the line 'report', for child processes.")
    private boolean untilInputEnds;

    StoreCommand() {}

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        if (list) {
            designs().forEach(design -> describe(design, out));
            out.flush();
            return ExitCode.OK;
        }
        StoreDesign design = design();
        StoreServerContext context = context(design);
        try {
            return serve(design, context, out);
        } catch (StoreException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
    }

    private int serve(StoreDesign design, StoreServerContext asked, PrintWriter out) {
        CountDownLatch stopped = new CountDownLatch(1);
        ProcessStop stop = new ProcessStop(stopped);
        StoreServerContext[] served = {asked};
        try (ServingThread serving = ServingThread.start(
                () -> open(asked.address().getAddress()),
                device -> {
                    StoreServerContext context = fitting(design, device, asked);
                    served[0] = context;
                    return made(design, device, context);
                },
                () -> rest(idle, progress),
                this::pin,
                stop::stop)) {
            ServingThread.Started started = serving.awaitStart();
            if (!pins.isEmpty() && started.workers() == 0) {
                throw new UserErrorException(
                        "--pin: the design " + design.name() + " has no workers with threads of their own here");
            }
            StoreServerContext context = served[0]; // as the thread has left it that has started
            out.println("store: " + AddressText.of(started.address()) + ", design " + design.name() + " ("
                    + lower(context.protocol()) + "), device " + started.device());
            out.println("paper: " + design.paper());
            out.println("clients: up to " + context.maxConnections() + " with " + context.window()
                    + " operations each, keys up to " + context.maxKeyLength() + " bytes, values up to "
                    + context.maxValueLength());
            out.println("options: " + (options.isEmpty() ? "defaults" : new TreeMap<>(options)) + "; progress "
                    + progress.option() + ", idle " + lower(idle) + ", threads of workers "
                    + (started.workers() == 0 ? "none" : started.workers() + pinned()) + ", pinning "
                    + started.pinning());
            out.println("ready");
            out.flush();
            stop.await(untilInputEnds ? System.in : null, line -> answer(line, serving, out));
            return ExitCode.OK;
        } finally {
            stop.closed();
        }
    }

    private static void answer(String line, ServingThread serving, PrintWriter out) {
        Map<String, Long> report = line.equals(REPORT) ? serving.report() : null;
        if (report != null) {
            out.println(REPORT + ": "
                    + report.entrySet().stream()
                            .map(entry -> entry.getKey() + "=" + entry.getValue())
                            .collect(Collectors.joining(" ")));
            out.flush();
        }
    }

    // ---- what is asked for

    private StoreDesign design() {
        String name = designName;
        if (name == null) {
            throw new ParameterException(
                    spec.commandLine(), "--design: missing, expected one of " + names() + "; --list describes them");
        }
        return designs().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(), "--design " + name + ": unknown, expected one of " + names()));
    }

    private static List<StoreDesign> designs() {
        return StoreDesigns.all().stream()
                .sorted(Comparator.comparing(StoreDesign::name))
                .toList();
    }

    private static String names() {
        return designs().stream().map(StoreDesign::name).collect(Collectors.joining(", "));
    }

    private StoreServerContext context(StoreDesign design) {
        if (port < 0 || port > MAX_PORT) {
            throw new ParameterException(spec.commandLine(), "--port " + port + ": expected 0 to " + MAX_PORT);
        }
        try {
            StoreOptions ignored = new StoreOptions(options, new TreeMap<>(design.serverOptions()));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--option: " + e.getMessage(), e);
        }
        requireCpus();
        return contextOfValues(maxValue == null ? USUAL_MAX_VALUE : maxValue);
    }

    private StoreServerContext contextOfValues(String longest) {
        try {
            return new StoreServerContext(new InetSocketAddress(InetAddress.getByName(listen), port))
                    .protocol(protocol)
                    .window(window)
                    .maxKeyLength(size("--max-key", maxKey))
                    .maxValueLength(size("--max-value", longest))
                    .maxConnections(connections)
                    .options(options)
                    .conclude();
        } catch (UnknownHostException e) {
            throw new UserErrorException("--listen " + listen + ": no such address", e);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), inOptions(String.valueOf(e.getMessage())), e);
        }
    }

    /** If nobody has said how long values may be, they are as long as the device carries them. */
    private StoreServerContext fitting(StoreDesign design, VerbsDevice device, StoreServerContext asked) {
        int longest = design.longestValue(device, asked.protocol());
        return maxValue == null && longest < asked.maxValueLength()
                ? contextOfValues(Integer.toString(longest))
                : asked;
    }

    private void requireCpus() {
        if (pins.isEmpty()) {
            return;
        }
        if (progress != DeviceProgress.ENGINE) {
            throw new ParameterException(
                    spec.commandLine(), "--pin: with --progress manual one thread does all; omit one of them");
        }
        for (int cpu : pins) {
            if (cpu < 0 || !Pinning.exists(cpu)) {
                throw new ParameterException(spec.commandLine(), "--pin " + cpu + ": there is no such CPU");
            }
        }
        Pinning.detect().problem().ifPresent(problem -> {
            throw new UserErrorException("--pin: " + problem);
        });
    }

    private Optional<String> pin(int worker) {
        return pins.isEmpty() ? Optional.empty() : Pinning.detect().pinThisThread(pins.get(worker % pins.size()));
    }

    private String pinned() {
        return pins.isEmpty() ? "" : " on CPUs " + pins;
    }

    /** The settings of a store by the names of the options that set them. */
    private static String inOptions(String message) {
        return message.replace("maxConnections=", "--connections ")
                .replace("maxKeyLength=", "--max-key ")
                .replace("maxValueLength=", "--max-value ")
                .replace("window=", "--window ");
    }

    private static int size(String option, String text) {
        try {
            return Math.toIntExact(ByteSize.parse(text));
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(option + " " + text + ": too large", e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(option + ": " + e.getMessage(), e);
        }
    }

    /**
     * One thread, as the store has one; the provider may have no such option. On RoCEv2, datagrams come from where the server
     * listens.
     */
    private VerbsDevice open(InetAddress local) {
        Map<String, String> wanted = new HashMap<>(Map.of("progress", progress.option(), "threads", "1"));
        if (provider.rocePort().isPresent() && !local.isAnyLocalAddress() && !local.isLinkLocalAddress()) {
            wanted.put("roce-address", local.getHostAddress());
        }
        return provider.openWithKnown(wanted);
    }

    private StoreServer made(StoreDesign design, VerbsDevice device, StoreServerContext context) {
        Set<Feature> missing = new HashSet<>(design.needs(context.protocol()));
        missing.removeAll(device.capabilities().features());
        if (!missing.isEmpty()) {
            throw new StoreException("the device " + device.name() + " has no " + missing + ", which the design "
                    + design.name() + " needs in its form '" + lower(context.protocol()) + "'");
        }
        try {
            return design.serve(device, context);
        } catch (StoreException e) {
            throw new StoreException(inOptions(String.valueOf(e.getMessage())), e);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--option: " + e.getMessage(), e);
        }
    }

    /** The thread that drives the device sleeps in it, and what comes wakes it: nobody hands over to another thread. */
    static ServingThread.Rest rest(Idle idle, DeviceProgress progress) {
        if (idle == Idle.SLEEP && progress == DeviceProgress.MANUAL) {
            return (worked, device) -> {
                if (worked == 0) {
                    int ignored = device.progress(LONGEST_SLEEP_NS);
                }
            };
        }
        IdleStrategy strategy = idle == Idle.SPIN
                ? BusySpinIdleStrategy.INSTANCE
                : new BackoffIdleStrategy(SPINS, 0, SHORTEST_SLEEP_NS, LONGEST_SLEEP_NS);
        return (worked, device) -> strategy.idle(worked);
    }

    // ---- for people

    private static void describe(StoreDesign design, PrintWriter out) {
        out.println(design.name());
        out.println("  paper: " + design.paper());
        for (Protocol form : Protocol.values()) {
            Set<Feature> needs = design.needs(form);
            out.println(
                    "  " + lower(form) + ": " + design.promises(form) + (needs.isEmpty() ? "" : "; needs " + needs));
        }
        List<String> lines = new ArrayList<>();
        new TreeMap<>(design.serverOptions()).forEach((name, text) -> lines.add("  --option " + name + ": " + text));
        lines.forEach(out::println);
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
