package org.softrdma.cli.diagnosis;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cli.faults.FaultPlanFile;
import org.softrdma.fabric.FabricProvider;
import org.softrdma.fabric.Seeds;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.fabric.scheduler.SimulationException;
import org.softrdma.suites.walk.FabricWalk;
import org.softrdma.testkit.walk.LoopbackWalk;
import org.softrdma.testkit.walk.Walk;
import org.softrdma.testkit.walk.WalkFailure;
import org.softrdma.testkit.walk.WalkReport;
import org.softrdma.testkit.walk.WalkSettings;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProviders;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code softrdma walk}: random walks over verbs beside a model. Runs on the main thread; walks on the fabric on
 * several.
 */
@Command(
        name = "walk",
        description = "Run random verbs operations, and compare the device with a model of verbs.",
        footer = {
            "",
            "A walk opens a device on each node, registers, connects, posts, polls, deregisters, disconnects and"
                    + " closes as its seed says, and also does what verbs forbid. The model says which completions, bytes"
                    + " and errors must follow; at the first disagreement the walk ends and prints its last operations.",
            "",
            "On the fabric, a simulated network in virtual time, a seed reproduces a walk step by step. On devices"
                    + " connected over TCP it reproduces the operations, but not their timing.",
            "",
            "Examples:",
            "  softrdma walk --transport fabric --faults --seed 1 --seeds 1000",
            "  softrdma walk --provider sanitised:sim --device sanitiser=throw --lawful"
        })
public final class WalkCommand implements Callable<Integer> {
    private static final int MOST_FAILURES = 5;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(
            names = "--transport",
            paramLabel = "tcp|fabric",
            defaultValue = "tcp",
            description = "Walk on devices of the provider, or on the fabric (${DEFAULT-VALUE}).")
    private Place place = Place.TCP;

    @Option(names = "--seed", paramLabel = "NUMBER", description = "First seed (default: from the clock).")
    private @Nullable Long seed;

    @Option(
            names = "--seeds",
            paramLabel = "COUNT",
            defaultValue = "1",
            description = "Number of walks, each with its own seed (${DEFAULT-VALUE}).")
    private int seeds = 1;

    @Option(
            names = "--operations",
            paramLabel = "COUNT",
            defaultValue = "200",
            description = "Number of operations per walk (${DEFAULT-VALUE}).")
    private int operations = 200;

    @Option(
            names = "--nodes",
            paramLabel = "COUNT",
            defaultValue = "3",
            description = "Number of devices per walk, 2 to 8 (${DEFAULT-VALUE}).")
    private int nodes = 3;

    @Option(
            names = "--faults",
            description = "On the fabric, also reset, delay and partition connections, and pause and kill nodes.")
    private boolean faults;

    @Option(
            names = "--fault-plan",
            paramLabel = "FILE",
            description = "With --faults, inject the faults of this plan into nodes node0, node1 ..."
                    + " (docs/reference/fault-plans.md) instead of random ones.")
    private @Nullable Path faultPlan;

    @Option(names = "--lawful", description = "Do only what verbs allow, so that the sanitiser has nothing to report.")
    private boolean lawful;

    @Option(
            names = "--features",
            description = "Also run operations that not every device supports: atomics, WRITEs with immediate, memory"
                    + " windows, shared receive queues, events, reregistration, and resized completion queues.")
    private boolean features;

    @Option(
            names = "--address",
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description = "Address of the devices over TCP (${DEFAULT-VALUE}).")
    private InetAddress address = InetAddress.getLoopbackAddress();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private final List<WalkReport> reports = new ArrayList<>();
    private FaultPlan plan = FaultPlan.NONE;
    private int failures;

    /** Where walks take place. */
    enum Place {
        TCP,
        FABRIC
    }

    /** What came of a walk: one of the two. */
    private record Outcome(@Nullable WalkReport report, String failure) {}

    WalkCommand() {}

    @Override
    public Integer call() {
        check();
        checkDevice();
        plan = faultPlan == null ? FaultPlan.NONE : plan(faultPlan);
        long first = seed == null ? System.currentTimeMillis() : seed;
        boolean fabric = place == Place.FABRIC;
        PrintWriter out = spec.commandLine().getOut();
        out.println(seeds + " walks of " + operations + " operations on " + nodes + " nodes from seed " + first + ", "
                + (fabric ? "fabric" : "provider " + provider.provider().name()) + (faults ? ", with faults" : "")
                + (lawful ? ", lawful" : "") + (features ? ", with features" : ""));
        out.flush();
        // Over TCP one at a time: a walk is to fail for its own operations.
        Seeds all = fabric ? Seeds.of(first, seeds) : new Seeds(first, seeds, 1);
        all.run(this::walk, (number, outcome) -> {
            report(number, outcome, out);
            return failures < MOST_FAILURES;
        });
        Map<String, Integer> counts = WalkReport.sum(reports);
        counts.forEach((what, count) -> out.printf(Locale.ROOT, "%10d  %s%n", count, what));
        out.println(reports.size() + " walks agree with the model, " + failures + " do not");
        out.flush();
        return failures == 0 ? ExitCode.OK : ExitCode.FAILED;
    }

    private void check() {
        if (seeds < 1) {
            throw new UserErrorException("--seeds " + seeds + ": expected at least 1");
        }
        if (operations < 1) {
            throw new UserErrorException("--operations " + operations + ": expected at least 1");
        }
        if (nodes < 2 || nodes > WalkSettings.MOST_NODES) {
            throw new UserErrorException("--nodes " + nodes + ": expected 2 to " + WalkSettings.MOST_NODES);
        }
        if (faults && place != Place.FABRIC) {
            throw new UserErrorException("--faults: only with --transport fabric");
        }
        if (faultPlan != null && !faults) {
            throw new UserErrorException("--fault-plan: only with --faults");
        }
        if (faults && lawful) {
            throw new UserErrorException("--faults and --lawful: expected only one of them");
        }
        String name = provider.provider().name();
        if (place == Place.FABRIC && !name.substring(name.lastIndexOf(':') + 1).equals("sim")) {
            throw new UserErrorException(
                    "--transport fabric: the fabric has devices of the provider sim, not of " + name);
        }
        for (String option : List.of("--address", "--pcap")) {
            if (place == Place.FABRIC && spec.commandLine().getParseResult().hasMatchedOption(option)) {
                throw new UserErrorException(option + ": only with --transport tcp");
            }
        }
    }

    /** A plan of what the model can expect at any time: it must know of lost nodes, wrong bytes and missing memory. */
    private static FaultPlan plan(Path file) {
        return FaultPlanFile.read(file, WalkCommand::requirePossible);
    }

    private static void requirePossible(Fault fault) {
        boolean possible = !(fault.when() instanceof When.ForVerbs)
                && switch (fault.what()) {
                    case What.OnConnection _, What.SlowNode _, What.Partition _, What.Pause _ -> true;
                    case What.Kill _, What.PowerOff _, What.Quota _, What.OnDatagram _, What.OfCard _ -> false;
                };
        if (!possible) {
            throw new IllegalArgumentException(
                    fault.what() + ": expected faults that a walk can have at any time: reset, cut,"
                            + " delay, stall, slow, slowNode, partition, pause");
        }
    }

    private void checkDevice() {
        if (place == Place.TCP) {
            provider.open(Map.of()).close();
            return;
        }
        try {
            FabricProvider.requireOptions(this::decorated, provider.deviceOptions());
        } catch (IllegalArgumentException e) {
            throw new UserErrorException("--device: " + e.getMessage(), e);
        }
    }

    private VerbsProvider decorated(VerbsProvider bare) {
        return VerbsProviders.decorated(provider.provider().name(), bare);
    }

    private Outcome walk(long number) {
        WalkSettings settings = new WalkSettings(number, operations, nodes, lawful, features);
        try {
            return new Outcome(place == Place.FABRIC ? onFabric(settings) : overTcp(settings), "");
        } catch (SimulationException | WalkFailure e) {
            return new Outcome(null, String.valueOf(e.getMessage()));
        }
    }

    private WalkReport overTcp(WalkSettings settings) {
        LoopbackWalk place = new LoopbackWalk(provider.provider(), provider.capturedOptions(), address);
        return new Walk(settings, place).run();
    }

    private WalkReport onFabric(WalkSettings settings) {
        return new FabricWalk(settings, faults, plan, provider.deviceOptions(), this::decorated)
                .run()
                .report();
    }

    private void report(long number, Outcome outcome, PrintWriter out) {
        WalkReport report = outcome.report();
        if (report != null) {
            reports.add(report);
            return;
        }
        failures++;
        out.println("seed " + number + " does not agree:");
        out.println(outcome.failure());
        out.println("again: " + command(number));
        out.flush();
    }

    private String command(long number) {
        StringBuilder command = new StringBuilder("softrdma walk --transport "
                + place.name().toLowerCase(Locale.ROOT) + " --seed " + number + " --operations " + operations
                + " --nodes "
                + nodes);
        command.append(faults ? " --faults" : "")
                .append(lawful ? " --lawful" : "")
                .append(features ? " --features" : "");
        if (faultPlan != null) {
            command.append(" --fault-plan ").append(faultPlan);
        }
        if (!provider.provider().name().equals("sim")) {
            command.append(" --provider ").append(provider.provider().name());
        }
        new TreeMap<>(provider.deviceOptions())
                .forEach((name, value) ->
                        command.append(" --device ").append(name).append('=').append(value));
        return command.toString();
    }
}
