package org.softrdma.bench.wimpy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.cpu.CoreClock;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.kv.CloseStack;
import org.softrdma.verbs.VerbsDevice;

/**
 * What a GET costs a server on one core: {@code softrdma server} read one-sidedly, the same server asked over TCP, and
 * memcached asked in its cheapest and in its classic form. All servers run all the time, one is loaded at a time, the systems
 * take turns within a round. Runs on the calling thread, which drives the device of the load.
 */
public final class WimpyStudy {
    private static final double NS_PER_US = 1e3;
    private static final long MEMORY_FACTOR = 2;
    private static final long MEMORY_RESERVE = 256L << 20;
    /** More than one, so that what is compiled during the last rows is there before the first row is measured. */
    private static final int WARM_UP_PASSES = 3;

    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final WimpyPlan plan;
    private final WimpySetup setup;
    private final String searchPath;
    private final CloseStack opened = new CloseStack();
    private final List<MeasuredSystem> systems = new ArrayList<>();
    private final List<KeySpace> spaces = new ArrayList<>();
    private final List<WimpyRow> rows = new ArrayList<>();
    private final Map<String, String> skipped = new LinkedHashMap<>();
    private final CpuClock clientClock = CpuClock.ofThisProcess();

    /**
     * A study.
     *
     * @param plan what is measured
     * @param setup where
     * @param searchPath where programs are looked for, as in {@code PATH}
     */
    public WimpyStudy(WimpyPlan plan, WimpySetup setup, String searchPath) {
        this.plan = plan;
        this.setup = setup;
        this.searchPath = searchPath;
    }

    /**
     * Measures, prints the table and writes results.json.
     *
     * @param directory where results.json goes
     * @return the number of GETs that brought nothing or something wrong
     * @throws WimpyException if a server did not start, died or returned something wrong
     * @throws IOException if the results cannot be written
     */
    public long run(Path directory) throws IOException {
        try (opened) {
            start();
            measure();
        }
        WimpyReport report = new WimpyReport(plan, setup.machine(), rows, skipped, "none");
        report.print(setup.out());
        setup.progress().accept("results: " + report.write(directory));
        return rows.stream().mapToLong(row -> row.errors).sum();
    }

    private void start() {
        Pinning pinning = Pinning.detect();
        pinning.pinThisProcess(plan.clientCore()).ifPresent(setup.progress());
        List<String> prefix = pinning.prefix(plan.serverCore());
        long memory = MEMORY_FACTOR * plan.totalBytes() + MEMORY_RESERVE;
        for (int valueLength : plan.valueLengths()) {
            spaces.add(new KeySpace(valueLength, plan.pairs()));
        }
        startSoftrdma(prefix, memory);
        startMemcached(prefix, memory);
        for (KeySpace space : spaces) {
            for (int window : plan.windows()) {
                for (MeasuredSystem system : systems) {
                    rows.add(new WimpyRow(system, space.valueLength(), window));
                }
            }
        }
    }

    private void startSoftrdma(List<String> pinning, long memory) {
        setup.progress().accept("starting softrdma server, storing " + plan.pairs() + " pairs of each length");
        ServerProcess server = opened.add(ServerProcess.softrdma(setup.server(), pinning, memory));
        VerbsDevice device = opened.add(setup.devices().open(Map.of("progress", "manual")));
        ReadGetLoad reads = opened.add(new ReadGetLoad(
                device,
                server.address(),
                plan.clients(),
                plan.maxWindow(),
                plan.maxValueLength(),
                plan.pairs() * plan.valueLengths().size()));
        for (KeySpace space : spaces) {
            reads.insert(space);
        }
        for (KeySpace space : spaces) {
            reads.learn(space);
        }
        AdminConnection admin = opened.add(new AdminConnection(server.address()));
        systems.add(new MeasuredSystem(
                "softrdma",
                setup.provider(),
                "READ",
                server,
                reads,
                () -> Long.parseLong(admin.stats("rdma").getOrDefault("device_responderReads", "0"))));
        systems.add(overTcp("softrdma", server, GetCommand.CLASSIC));
    }

    private void startMemcached(List<String> pinning, long memory) {
        Optional<Path> program = ServerProcess.find("memcached", searchPath);
        if (program.isEmpty()) {
            String reason = "memcached is not installed; ./ci/install installs it";
            setup.progress().accept("skipping memcached: " + reason);
            skipped.put("memcached", reason);
            return;
        }
        setup.progress().accept("starting " + program.get());
        ServerProcess server = opened.add(ServerProcess.memcached(program.get(), pinning, memory));
        String name;
        try (AdminConnection admin = new AdminConnection(server.address())) {
            name = "memcached " + admin.version();
            spaces.forEach(admin::insert);
        }
        systems.add(overTcp(name, server, GetCommand.META));
        systems.add(overTcp(name, server, GetCommand.CLASSIC));
    }

    private MeasuredSystem overTcp(String name, ServerProcess server, GetCommand command) {
        GetLoad load = opened.add(new MemcachedGetLoad(server.address(), command, plan.clients(), plan.maxWindow()));
        return new MeasuredSystem(name, null, command.label(), server, load, null);
    }

    private void measure() {
        setup.progress().accept("warming up " + rows.size() + " rows");
        for (int pass = 0; pass < WARM_UP_PASSES; pass++) {
            for (WimpyRow row : rows) {
                row.system.load().run(space(row), row.window, plan.warmUpNs() / WARM_UP_PASSES);
            }
        }
        for (int round = 1; round <= plan.rounds(); round++) {
            setup.progress().accept("round " + round + " of " + plan.rounds());
            for (WimpyRow row : rows) {
                measure(row);
            }
        }
    }

    private KeySpace space(WimpyRow row) {
        return spaces.get(plan.valueLengths().indexOf(row.valueLength));
    }

    private void measure(WimpyRow row) {
        MeasuredSystem system = row.system;
        CoreClock core = new CoreClock(plan.serverCore() < 0 ? List.of() : List.of(plan.serverCore()));
        long readsBefore = reads(system);
        LockSupport.parkNanos(QUIET_NS); // the kernel brings thread times up to date when threads sleep
        CpuClock.Sample serverStart = system.server().clock().sample();
        CpuClock.Sample clientStart = clientClock.sample();
        CoreClock.Sample coreStart = core.sample();
        LoadOutcome outcome = system.load().run(space(row), row.window, plan.roundNs());
        CoreClock.Sample coreEnd = core.sample();
        LockSupport.parkNanos(QUIET_NS);
        CpuUse server = system.server().clock().sample().since(serverStart);
        CpuUse client = clientClock.sample().since(clientStart);
        long gets = Math.max(1, outcome.gets());
        row.errors += outcome.errors();
        row.rounds.add(WimpyRow.GETS_PER_SECOND, outcome.perSecond());
        row.rounds.add(WimpyRow.SERVER_CPU, server.microsPer(gets));
        row.rounds.add(
                WimpyRow.SERVER_CORE,
                plan.serverCore() < 0 ? Double.NaN : coreEnd.busyNsSince(coreStart) / NS_PER_US / gets);
        row.rounds.add(WimpyRow.CLIENT_CPU, client.microsPer(gets));
        Histogram latencies = outcome.latencies();
        row.rounds.add(WimpyRow.P50, latencies.getValueAtPercentile(50) / NS_PER_US);
        row.rounds.add(WimpyRow.P99, latencies.getValueAtPercentile(99) / NS_PER_US);
        row.rounds.add(WimpyRow.P999, latencies.getValueAtPercentile(99.9) / NS_PER_US);
        row.rounds.add(
                WimpyRow.ONE_SIDED,
                system.responderReads() == null ? Double.NaN : (double) (reads(system) - readsBefore) / gets);
        server.byClassNs().forEach((threads, ns) -> row.serverCpuByClass.add(threads.label(), ns / NS_PER_US / gets));
        setup.progress()
                .accept(String.format(
                        Locale.ROOT,
                        "  %-28s %7d bytes window %2d: %9.0f GETs/s, server CPU %.2f us (%s)",
                        system.label(),
                        row.valueLength,
                        row.window,
                        outcome.perSecond(),
                        server.microsPer(gets),
                        server.describeClasses(gets)));
    }

    private static long reads(MeasuredSystem system) {
        return system.responderReads() == null ? 0 : system.responderReads().getAsLong();
    }
}
