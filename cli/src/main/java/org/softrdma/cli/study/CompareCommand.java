package org.softrdma.cli.study;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.compare.ComparePlan;
import org.softrdma.bench.compare.CompareReport;
import org.softrdma.bench.compare.CompareResults;
import org.softrdma.bench.compare.CompareStudy;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.study.Cores;
import org.softrdma.bench.workload.Mix;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.stores.Protocol;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma compare}: stores of papers, and others, side by side. */
@Command(
        name = "compare",
        description = {
            "Compare the stores of four papers with this project's key-value server, memcached and redis on this"
                    + " machine: CPU of server and client, messages, latency, retries, memory. Prints a table and"
                    + " writes results.json and report.html.",
            "Each server is a child process on one core; the load runs on another. Servers that are not installed are"
                    + " skipped, and the report says so. docs/studies/compare.md says how to read it."
        })
public final class CompareCommand implements Callable<Integer> {
    private static final String ALL = "all";
    private static final double MILLIS = 1000;
    /** Warm-up of each row of a JVM. */
    private static final int WARM_UP_MS = 1500;

    private static final int QUICK_WARM_UP_MS = 500;
    private static final int QUICK_ROUNDS = 3;
    private static final double QUICK_SECONDS = 0.25;
    private static final int ROUNDS = 5;
    private static final double SECONDS = 2;
    private static final List<Integer> WINDOWS = List.of(1, 16);
    private static final List<Integer> WIDEST = List.of(16);
    private static final List<Integer> WORKERS = List.of(0, 1, 2, 3, 4);
    /** Three quarters of 2^15 and of 2^13: Pilaf's tables are 75 % full then. */
    private static final int PAIRS = 24_576;

    private static final int FABRIC_PAIRS = 6_144;
    private static final List<Integer> NODES = List.of(3);
    private static final int CONNECTIONS = 8;
    private static final int FABRIC_CONNECTIONS = 2;
    private static final String SERVER_DIRECTORIES = ":/usr/bin:/usr/sbin:/usr/local/bin:/usr/local/sbin";

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @ArgGroup(exclusive = true)
    private @Nullable Extent extent;

    /** How much is compared. */
    static final class Extent {
        @Option(
                names = "--quick",
                description = "Run three short rounds with 16 outstanding, in three to five minutes.")
        private boolean quick;

        @Option(
                names = "--fabric",
                description = "Simulate: count messages, bytes and retries, and measure no time, in under a minute. One"
                        + " seed gives the same counts on every machine.")
        private boolean fabric;
    }

    @Option(
            names = "--designs",
            paramLabel = "NAME",
            split = ",",
            defaultValue = ALL,
            description = "What is compared (${DEFAULT-VALUE}): designs, which `softrdma store --list` shows, and kv,"
                    + " kv-chunk, kv-tcp, memcached, redis.")
    private List<String> designs = List.of();

    @Option(
            names = "--sizes",
            paramLabel = "SIZE",
            split = ",",
            defaultValue = "32,1K",
            description = "Value sizes (${DEFAULT-VALUE}).")
    private List<String> sizes = List.of();

    @Option(
            names = {"--window", "--windows"},
            paramLabel = "N",
            split = ",",
            description = "Operations outstanding per connection (1,16; with --quick and --fabric 16).")
    private List<Integer> windows = List.of();

    @Option(
            names = "--mixes",
            paramLabel = "A|B|C|D|F",
            split = ",",
            defaultValue = "C,A",
            description = "YCSB's mixes of GETs and PUTs (${DEFAULT-VALUE}): C has GETs only, A half of them.")
    private List<String> mixes = List.of();

    @Option(names = "--connections", paramLabel = "N", description = "Number of connections (8; with --fabric 2).")
    private @Nullable Integer connections;

    @Option(names = "--pairs", paramLabel = "N", description = "Number of key-value pairs (24576; with --fabric 6144).")
    private @Nullable Integer pairs;

    @Option(
            names = "--skew",
            paramLabel = "S",
            defaultValue = "0.99",
            description =
                    "Skew of Zipf's law by which keys are chosen, below 1; 0 for a uniform choice (${DEFAULT-VALUE}).")
    private double skew;

    @Option(
            names = "--protocol",
            paramLabel = "paper|safe",
            defaultValue = "safe",
            description =
                    "paper: the designs as published, known races included; safe: with our fixes (${DEFAULT-VALUE}).")
    private Protocol protocol = Protocol.SAFE;

    @Option(
            names = "--option",
            paramLabel = "DESIGN:NAME=VALUE",
            description = "Set an option of a design's server. Repeatable; `softrdma store --list` shows the options.")
    private Map<String, String> options = new LinkedHashMap<>();

    @Option(
            names = "--workers",
            paramLabel = "N",
            split = ",",
            description =
                    "Also run the designs beside N CPU-bound processes on the server's core, with the RNIC's threads at"
                            + " usual and at raised priority (0,1,2,3,4; with --quick none; 0 alone for none).")
    private List<Integer> workers = List.of();

    @Option(
            names = "--nodes",
            paramLabel = "N",
            split = ",",
            description =
                    "With --fabric: also run Nessie on N nodes, varying locality, filter bits and cache (3; 0 alone for"
                            + " none).")
    private List<Integer> nodes = List.of();

    @Option(names = "--rounds", paramLabel = "N", description = "Number of rounds (5; with --quick 3).")
    private @Nullable Integer rounds;

    @Option(names = "--seconds", paramLabel = "S", description = "Length of a round (2; with --quick 0.25).")
    private @Nullable Double seconds;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "With --fabric: the seed (${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--operations",
            paramLabel = "N",
            defaultValue = "3000",
            description = "With --fabric: operations of each row (${DEFAULT-VALUE}).")
    private int operations;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "compare-results",
            description = "Directory for results.json and report.html (./${DEFAULT-VALUE}).")
    private Path out = Path.of("compare-results");

    CompareCommand() {}

    @Override
    public Integer call() {
        try {
            ComparePlan plan = plan();
            return StudyRun.run(spec, out, isFabric() ? fabric(plan) : live(plan));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    private StudyRun.Study live(ComparePlan plan) {
        if (List.of("--seed", "--operations", "--nodes").stream()
                .anyMatch(spec.commandLine().getParseResult()::hasMatchedOption)) {
            throw new IllegalArgumentException("--seed, --operations and --nodes need --fabric too");
        }
        String path = System.getenv().getOrDefault("PATH", "") + SERVER_DIRECTORIES;
        return new CompareStudy(plan, StudyRun.setup(spec, provider, null, null, path))::run;
    }

    private StudyRun.Study fabric(ComparePlan plan) {
        if (spec.commandLine().getParseResult().hasMatchedOption("--provider")
                || !provider.deviceOptions().isEmpty()
                || !provider.capturedOptions().isEmpty()) {
            throw new IllegalArgumentException("--fabric has devices of its own; omit --provider, --device and --pcap");
        }
        if (operations < 1) {
            throw new IllegalArgumentException("--operations " + operations + ": expected at least 1");
        }
        TerminalProgress progress = new TerminalProgress(spec.commandLine().getErr());
        FabricComparison comparison = new FabricComparison(plan, seed, operations, nodes(plan), progress::say);
        return directory -> simulated(comparison, progress, directory);
    }

    private List<Integer> nodes(ComparePlan plan) {
        if (nodes.isEmpty()) {
            return plan.systems().contains(NodesComparison.DESIGN) ? NODES : List.of();
        }
        if (nodes.equals(List.of(0))) {
            return List.of();
        }
        for (int count : nodes) {
            if (count < NodesComparison.FEWEST || count > NodesComparison.MOST) {
                throw new IllegalArgumentException("--nodes " + count + ": expected " + NodesComparison.FEWEST + " to "
                        + NodesComparison.MOST + ", or 0 alone for none");
            }
        }
        if (!plan.systems().contains(NodesComparison.DESIGN)) {
            throw new IllegalArgumentException(
                    "--nodes: only " + NodesComparison.DESIGN + " has several nodes; add it to --designs");
        }
        return nodes.stream().distinct().toList();
    }

    private long simulated(FabricComparison comparison, TerminalProgress progress, Path directory) throws IOException {
        CompareResults results = comparison.run();
        CompareReport.write(results, spec.commandLine().getOut(), directory, progress::say);
        return results.errors();
    }

    private boolean isFabric() {
        return extent != null && extent.fabric;
    }

    private boolean isQuick() {
        return extent != null && extent.quick;
    }

    /** What the options ask for. */
    ComparePlan plan() {
        boolean quick = isQuick();
        double length = seconds != null ? seconds : quick ? QUICK_SECONDS : SECONDS;
        if (!(length > 0)) {
            throw new IllegalArgumentException("--seconds " + length + ": expected more than 0");
        }
        int count = rounds != null ? rounds : quick ? QUICK_ROUNDS : ROUNDS;
        if (count < 1) {
            throw new IllegalArgumentException("--rounds " + count + ": expected at least 1");
        }
        return new ComparePlan(
                StudyRun.scenario(spec),
                designs.equals(List.of(ALL)) ? ComparePlan.systemNames() : designs,
                sizes.stream().map(CompareCommand::size).toList(),
                !windows.isEmpty() ? windows : quick || isFabric() ? WIDEST : WINDOWS,
                mixes.stream().map(CompareCommand::mix).toList(),
                connections != null ? connections : isFabric() ? FABRIC_CONNECTIONS : CONNECTIONS,
                pairs != null ? pairs : isFabric() ? FABRIC_PAIRS : PAIRS,
                skew,
                protocol,
                optionsByDesign(),
                !quick,
                workers(),
                new ComparePlan.Timing(count, (int) Math.max(1, Math.round(length * MILLIS)), (int)
                        Math.min(quick ? QUICK_WARM_UP_MS : WARM_UP_MS, Math.round(length * MILLIS * ROUNDS))),
                Cores.of(Runtime.getRuntime().availableProcessors()));
    }

    private List<Integer> workers() {
        if (workers.isEmpty()) {
            return isQuick() || isFabric() ? List.of() : WORKERS;
        }
        if (isFabric()) {
            throw new IllegalArgumentException("--workers: nothing takes time on the fabric; omit one of them");
        }
        return workers.equals(List.of(0)) ? List.of() : workers;
    }

    private Map<String, Map<String, String>> optionsByDesign() {
        Map<String, Map<String, String>> all = new TreeMap<>();
        options.forEach((name, value) -> {
            int colon = name.indexOf(':');
            if (colon < 1) {
                throw new IllegalArgumentException("--option " + name + "=" + value + ": expected DESIGN:NAME=VALUE");
            }
            all.computeIfAbsent(name.substring(0, colon), design -> new TreeMap<>())
                    .put(name.substring(colon + 1), value);
        });
        return all;
    }

    private static Mix mix(String letter) {
        try {
            return Mix.named(letter);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("--mixes: " + e.getMessage(), e);
        }
    }

    private static int size(String text) {
        try {
            return (int) Math.min(Integer.MAX_VALUE, ByteSize.parse(text));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("--sizes: " + e.getMessage(), e);
        }
    }
}
