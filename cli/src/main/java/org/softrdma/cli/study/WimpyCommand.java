package org.softrdma.cli.study;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.study.Cores;
import org.softrdma.bench.study.StudySetup;
import org.softrdma.bench.wimpy.WimpyPlan;
import org.softrdma.bench.wimpy.WimpyStudy;
import org.softrdma.cli.command.HostPort;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.cli.command.ProviderMixin;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma wimpy}: what a GET costs a server, by READ and by memcached. */
@Command(
        name = "wimpy",
        description = {
            "Compare GETs by one-sided READ with memcached and redis on this machine: GETs per second,"
                    + " server CPU and latency. Prints a table and writes results.json and report.html.",
            "Each server is a child process on one core; the load runs on another. Servers that are not"
                    + " installed are skipped."
        })
public final class WimpyCommand implements Callable<Integer> {
    private static final WimpyPlan.Timing QUICK = new WimpyPlan.Timing(3, 400, 600);
    private static final WimpyPlan.Timing FULL = new WimpyPlan.Timing(7, 700, 1500);
    private static final String QUICK_THROTTLES = "100";
    private static final String FULL_THROTTLES = "100,50,25";
    private static final String FULL_LINKS = "1G,10G";
    /** Where distributions put servers, which may not be on the path of a person. */
    private static final String SERVER_DIRECTORIES = ":/usr/bin:/usr/sbin:/usr/local/bin:/usr/local/sbin";

    private static final int MAX_ROUNDS = 100;
    private static final int MEMCACHED_PORT = 11211;
    private static final Pattern RATE = Pattern.compile("(\\d{1,6})([MG])");
    private static final int MEGABITS_PER_GIGABIT = 1000;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @ArgGroup(exclusive = true)
    private @Nullable Extent extent;

    /** How much is measured. */
    static final class Extent {
        @SuppressWarnings("UnusedVariable") // it excludes --full, and says what is the default
        @Option(
                names = "--quick",
                description = "Run three short rounds at full speed, in about three minutes (the default).")
        private boolean quick;

        @Option(
                names = "--full",
                description = "Run seven rounds, and add slower servers, latency at half rate, and more cores"
                        + " where the machine has them.")
        private boolean full;
    }

    @Option(
            names = "--sizes",
            paramLabel = "SIZE",
            split = ",",
            defaultValue = "1K,10K,100K",
            description = "Value sizes (${DEFAULT-VALUE}).")
    private List<String> sizes = List.of();

    @Option(
            names = {"--window", "--windows"},
            paramLabel = "N",
            split = ",",
            defaultValue = "1,16",
            description = "GETs outstanding per connection (${DEFAULT-VALUE}).")
    private List<Integer> windows = List.of();

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "8",
            description = "Number of connections (${DEFAULT-VALUE}).")
    private int clients;

    @Option(
            names = "--pairs",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Number of key-value pairs of each size (${DEFAULT-VALUE}).")
    private int pairs;

    @Option(
            names = "--throttle",
            paramLabel = "PCT",
            split = ",",
            description = "Server speed in percent (" + QUICK_THROTTLES + "; with --full " + FULL_THROTTLES
                    + "), set by cpufreq where that is allowed, otherwise by a CPU quota. Speeds below 100 run with the"
                    + " widest window only.")
    private List<Integer> throttles = List.of();

    @Option(
            names = "--link",
            paramLabel = "RATE",
            split = ",",
            description = "Also measure memcached and READ with the servers at the end of a virtual link of this rate,"
                    + " for example 1G or 500M, in bit/s (none; with --full " + FULL_LINKS
                    + "). Needs root and iproute2.")
    private @Nullable List<String> links;

    @Option(
            names = "--also",
            paramLabel = "WAY",
            split = ",",
            description = "Also measure these ways to get values, at memcached and at this store: binary (the binary"
                    + " protocol's getk), tls (mg in TLS). Or profile: the functions that memcached and READ spend"
                    + " their CPU in, with Linux's perf. --full measures all.")
    private @Nullable Set<WimpyPlan.Extra> extras;

    @Option(
            names = "--beside",
            paramLabel = "JAR",
            description = "Instead, compare this build's server with another's (its cli/target/softrdma.jar) and with"
                    + " memcached, by mg over TCP and by READ. Each round has its own process of either build, because"
                    + " no two JVMs compile a program to quite the same code.")
    private @Nullable Path beside;

    @Option(names = "--rounds", paramLabel = "N", description = "Number of rounds (3, with --full 7).")
    private @Nullable Integer rounds;

    @Option(
            names = "--connect",
            paramLabel = "HOST[:PORT]",
            description = "Start no servers: store the pairs in the softrdma server at this address (port"
                    + " 11211), and load it.")
    private @Nullable String connect;

    @Option(
            names = "--connect-memcached",
            paramLabel = "HOST[:PORT]",
            description = "With --connect: also load the memcached at this address, to compare.")
    private @Nullable String connectMemcached;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "wimpy-results",
            description = "Directory for results.json and report.html (./${DEFAULT-VALUE}).")
    private Path out = Path.of("wimpy-results");

    WimpyCommand() {}

    @Override
    public Integer call() {
        return StudyRun.run(spec, out, study()::run);
    }

    private WimpyStudy study() {
        try {
            String path = System.getenv().getOrDefault("PATH", "") + SERVER_DIRECTORIES;
            return new WimpyStudy(plan(), StudyRun.setup(spec, provider, otherBuild(), remote(), path));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    /** What the options ask for. */
    WimpyPlan plan() {
        boolean full = extent != null && extent.full;
        Cores cores = Cores.of(Runtime.getRuntime().availableProcessors());
        List<Integer> percents = throttles.isEmpty()
                ? List.of((full ? FULL_THROTTLES : QUICK_THROTTLES).split(",", -1)).stream()
                        .map(Integer::valueOf)
                        .toList()
                : throttles.stream().sorted((a, b) -> b - a).toList();
        return new WimpyPlan(
                StudyRun.scenario(spec),
                sizes.stream().map(WimpyCommand::size).toList(),
                windows,
                clients,
                pairs,
                percents,
                full && connect == null ? coreCounts(cores.servers().size()) : List.of(1),
                links(full),
                full,
                extras != null ? extras : full ? Set.of(WimpyPlan.Extra.values()) : Set.of(),
                timing(full ? FULL : QUICK),
                cores);
    }

    private List<Integer> links(boolean full) {
        boolean ownServers = connect == null && beside == null;
        if (links == null) {
            return full && ownServers ? links(List.of(FULL_LINKS.split(",", -1))) : List.of();
        }
        if (!ownServers) {
            throw new IllegalArgumentException(
                    "--link puts servers of this build at its end; omit --connect and --beside");
        }
        return links(links);
    }

    private static List<Integer> links(List<String> rates) {
        return rates.stream().map(WimpyCommand::megabits).toList();
    }

    /** A rate with a decimal unit, as networks have them: {@code 1G} is 1000 Mbit/s. */
    private static int megabits(String rate) {
        Matcher matcher = RATE.matcher(rate);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("--link " + rate + ": expected a rate in bit/s such as 500M or 10G");
        }
        return Integer.parseInt(matcher.group(1)) * (matcher.group(2).equals("G") ? MEGABITS_PER_GIGABIT : 1);
    }

    private WimpyPlan.Timing timing(WimpyPlan.Timing usual) {
        if (rounds == null) {
            return usual;
        }
        if (rounds < 1 || rounds > MAX_ROUNDS) {
            throw new IllegalArgumentException("--rounds " + rounds + ": expected 1 to " + MAX_ROUNDS);
        }
        return new WimpyPlan.Timing(rounds, usual.millis(), usual.warmUpMillis());
    }

    /** 1, 2, 4 and so on, and all there are. */
    private static List<Integer> coreCounts(int available) {
        List<Integer> counts = new ArrayList<>(List.of(1));
        for (int count = 2; count < available; count *= 2) {
            counts.add(count);
        }
        if (available > 1) {
            counts.add(available);
        }
        return counts;
    }

    private static int size(String text) {
        long bytes;
        try {
            bytes = ByteSize.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("--sizes: " + e.getMessage(), e);
        }
        if (bytes > WimpyPlan.MAX_VALUE_LENGTH) {
            throw new IllegalArgumentException(
                    "--sizes " + text + ": expected 1 to " + ByteSize.format(WimpyPlan.MAX_VALUE_LENGTH));
        }
        return (int) bytes;
    }

    private @Nullable Path otherBuild() {
        if (beside != null) {
            if (connect != null) {
                throw new IllegalArgumentException("--beside starts a server, and --connect starts none: choose one");
            }
            OwnProgram.requireJar("--beside", beside);
        }
        return beside;
    }

    private StudySetup.@Nullable Remote remote() {
        if (connect == null) {
            if (connectMemcached != null) {
                throw new IllegalArgumentException("--connect-memcached needs --connect too");
            }
            return null;
        }
        return new StudySetup.Remote(
                HostPort.server("--connect", connect, MEMCACHED_PORT),
                connectMemcached == null
                        ? null
                        : HostPort.server("--connect-memcached", connectMemcached, MEMCACHED_PORT));
    }
}
