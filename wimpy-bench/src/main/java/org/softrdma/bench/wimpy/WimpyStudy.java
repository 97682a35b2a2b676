package org.softrdma.bench.wimpy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.cpu.FunctionProfile;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.machine.ShapedLink;
import org.softrdma.bench.machine.Throttle;
import org.softrdma.bench.machine.Throttles;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.study.RoundMeter;
import org.softrdma.bench.study.StudySetup;
import org.softrdma.bench.study.SystemList;
import org.softrdma.bench.study.Warmth;
import org.softrdma.bench.workload.LoadOutcome;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.kv.CloseStack;

/**
 * What a GET costs a server: {@code softrdma server} read one-sidedly and asked over TCP, memcached, redis, and the cheapest C
 * responder. All servers run all the time, one is loaded at a time, the systems take turns within a round. Runs on the calling
 * thread, which drives the devices of the load. Of one use.
 */
public final class WimpyStudy {
    private static final double NS_PER_US = 1e3;
    /** At least; more than one, so that what is compiled during the last rows is there before the first row is measured. */
    private static final int WARM_UP_PASSES = 3;

    /** For cells with a row whose rounds lie far apart. */
    private static final int MOST_EXTRA_ROUNDS = 2;

    private static final long PROFILE_NS = TimeUnit.SECONDS.toNanos(1);
    /** {@code perf} begins a little later than the load. */
    private static final long PROFILE_MARGIN_NS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Part of the rate flat out that arrives in open loop. */
    private static final double OPEN_LOOP_LOAD = 0.5;

    private final WimpyPlan plan;
    private final StudySetup setup;
    private final List<MixPairs> spaces;
    private final List<WimpyRow> rows = new ArrayList<>();
    private final Map<String, String> skipped = new LinkedHashMap<>();
    private Optional<Throttle> throttle = Optional.empty();
    private Optional<ShapedLink> link = Optional.empty();

    /**
     * A study.
     *
     * @param plan what is measured
     * @param setup where
     */
    public WimpyStudy(WimpyPlan plan, StudySetup setup) {
        this.plan = plan;
        this.setup = setup;
        spaces = plan.keySpaces();
    }

    /**
     * Measures, prints the table and writes results.json and report.html.
     *
     * @param directory where these go
     * @return the number of GETs that brought nothing or something wrong
     * @throws MeasurementException if a server that must be there did not start or cannot be reached, died or returned something
     *     wrong
     * @throws IOException if the results cannot be written
     */
    public long run(Path directory) throws IOException {
        String startedAt = OffsetDateTime.now(ZoneOffset.UTC)
                .truncatedTo(ChronoUnit.SECONDS)
                .toString();
        try (CloseStack limits = new CloseStack()) {
            findThrottle(limits);
            for (int coreCount : plan.coreCounts()) {
                measureWith(coreCount);
            }
            if (findLink(limits)) {
                measureOverLinks();
            }
        } finally {
            setup.progress().end();
        }
        StudyResults results = new StudyResults(
                plan,
                startedAt,
                setup.machine(),
                setup.network(),
                rows,
                skipped,
                throttle.map(StudyResults.Slowing::of));
        new WimpyTable(results).print(setup.out());
        setup.progress().say("results: " + new WimpyJson(results).write(directory));
        setup.progress().say("report:  " + new WimpyPage(results).write(directory));
        return results.errors();
    }

    private void findThrottle(CloseStack limits) {
        if (!plan.throttled()) {
            return;
        }
        if (setup.remote() != null) {
            skipped.put("throttled rows", "the servers run elsewhere: slow them down there");
            return;
        }
        if (plan.cores().servers().isEmpty()) {
            skipped.put("throttled rows", "server and load share one core, so the server cannot be slowed down alone");
            return;
        }
        Throttles.Found found = Throttles.find(List.of(plan.cores().servers().getFirst()));
        throttle = found.throttle().map(limits::add);
        if (throttle.isEmpty()) {
            skipped.put("throttled rows", "no way to slow down a server on this machine: " + found.problem());
        }
    }

    private boolean findLink(CloseStack limits) {
        if (plan.links().isEmpty()) {
            return false;
        }
        ShapedLink.Found found = ShapedLink.find(Collections.max(plan.links()));
        link = found.link().map(limits::add);
        if (link.isEmpty()) {
            skipped.put("links of a limited rate", found.problem());
        }
        return link.isPresent();
    }

    /** The paper's figure 1: servers at the far end of a link, by its rate and by their speed. */
    private void measureOverLinks() {
        try (CloseStack opened = new CloseStack()) {
            SystemList<MeasuredSystem> list =
                    new LocalSystems(plan, setup, spaces, 1, link.orElseThrow(), opened).startOverLink();
            list.skipped().forEach((system, why) -> skipped.putIfAbsent(system + " over a link", why));
            adopt(list);
            List<WimpyRow> block = possible(plan.linkRows(list.systems()));
            measure(block);
            rows.addAll(block);
        }
    }

    private void adopt(SystemList<MeasuredSystem> list) {
        throttle.ifPresent(limit -> list.processes().forEach(pid -> adopt(limit, pid)));
    }

    private List<WimpyRow> possible(List<WimpyRow> planned) {
        return planned.stream()
                .filter(row -> row.throttlePercent == Throttle.FULL_PERCENT || throttle.isPresent())
                .toList();
    }

    private void measureWith(int coreCount) {
        try (CloseStack opened = new CloseStack()) {
            StudySetup.Remote remote = setup.remote();
            SystemList<MeasuredSystem> list = remote == null
                    ? new LocalSystems(plan, setup, spaces, coreCount, null, opened).start()
                    : new RemoteSystems(plan, setup, spaces, opened).connect(remote);
            list.skipped().forEach(skipped::putIfAbsent);
            Pinning.detect().pinThisProcess(plan.cores().load()).ifPresent(setup.progress()::say);
            if (coreCount == 1) {
                adopt(list);
            }
            List<WimpyRow> closed = possible(plan.rows(list.systems(), coreCount));
            measure(closed);
            rows.addAll(closed);
            if (coreCount == 1 && plan.extras().contains(WimpyPlan.Extra.PROFILE)) {
                profile(closed);
            }
            if (plan.openLoop() && coreCount == 1) {
                List<WimpyRow> open = openRows(closed);
                measureRounds(open);
                rows.addAll(open);
            }
        }
    }

    private void measure(List<WimpyRow> block) {
        int fastest = block.stream().mapToInt(row -> row.throttlePercent).max().orElse(Throttle.FULL_PERCENT);
        List<WimpyRow> warmed =
                block.stream().filter(row -> row.throttlePercent == fastest).toList();
        int openRounds = plan.openLoop()
                ? (int) block.stream().filter(this::isModelOfOpen).count()
                : 0;
        setup.progress().begin(WARM_UP_PASSES * warmed.size() + plan.timing().rounds() * (block.size() + openRounds));
        Warmth.warmUp(WARM_UP_PASSES, warmed, row -> row.system.kind().compiles(), row -> warmUp(row, warmed));
        measureRounds(block);
    }

    /** One pass of the warm-up of a row; says what its first server used, if it is a process of this machine. */
    private Optional<CpuUse> warmUp(WimpyRow row, List<WimpyRow> warmed) {
        int rowsOfSystem = (int)
                warmed.stream().filter(other -> other.system == row.system).count();
        long ns = plan.warmUpNs(row.system, rowsOfSystem) / WARM_UP_PASSES;
        if (row.isOverLink()) {
            limitLink(row.linkMegabits);
        }
        Optional<CpuUse> used = Optional.empty();
        for (MeasuredSystem.Server server : row.system.servers()) {
            used = new RoundMeter(server.meter(), List.of())
                    .around(() -> server.load().run(space(row), row.window, Arrivals.closed(ns)))
                    .server();
        }
        setup.progress().step("warming up");
        return used;
    }

    private void measureRounds(List<WimpyRow> block) {
        int rounds = plan.timing().rounds();
        for (int round = 1; round <= rounds; round++) {
            measureRound(block, round, "round " + round + " of " + rounds);
        }
        for (int extra = 1; extra <= MOST_EXTRA_ROUNDS; extra++) {
            List<WimpyRow> wide = block.stream()
                    .filter(row -> block.stream().anyMatch(other -> other.sameCell(row) && other.isNoisy()))
                    .toList();
            measureRound(wide, rounds + extra, "one more round where rounds lie far apart");
        }
    }

    private void measureRound(List<WimpyRow> block, int round, String what) {
        int percent = Throttle.FULL_PERCENT;
        for (WimpyRow row : block) {
            if (row.throttlePercent != percent) {
                percent = row.throttlePercent;
                limit(percent);
            }
            if (row.isOverLink()) {
                limitLink(row.linkMegabits);
            }
            measure(row, round);
            setup.progress().step(what);
        }
        if (percent != Throttle.FULL_PERCENT) {
            limit(Throttle.FULL_PERCENT);
        }
    }

    /** The paper's figure 3. A profile costs the server something, so no figure of a round is taken here. */
    private void profile(List<WimpyRow> block) {
        Arrivals arrivals = Arrivals.closed(PROFILE_NS + PROFILE_MARGIN_NS);
        try {
            for (WimpyRow row : block) {
                MeasuredSystem.Server server = row.system.server(0);
                if (!row.isProfiled(plan.maxWindow()) || server.pid().isEmpty()) {
                    continue;
                }
                setup.progress().say("profiling " + row.label());
                row.profile = FunctionProfile.of(
                        server.pid().getAsLong(),
                        PROFILE_NS,
                        () -> row.errors += server.load()
                                .run(space(row), row.window, arrivals)
                                .errors());
            }
        } catch (IOException e) {
            skipped.put("CPU by function", String.valueOf(e.getMessage()));
        }
        if (block.stream().allMatch(row -> row.profile == null)) {
            skipped.putIfAbsent("CPU by function", "no server of this machine is asked by classic gets or by READ");
        }
    }

    private boolean isModelOfOpen(WimpyRow row) {
        return !row.isOverLink()
                && row.valueLength == plan.middleValueLength()
                && row.window == plan.maxWindow()
                && row.throttlePercent == Throttle.FULL_PERCENT;
    }

    private List<WimpyRow> openRows(List<WimpyRow> closed) {
        return closed.stream()
                .filter(this::isModelOfOpen)
                .map(row -> row.open(row.median(WimpyRow.GETS_PER_SECOND) * OPEN_LOOP_LOAD))
                .toList();
    }

    private MixPairs space(WimpyRow row) {
        return spaces.get(plan.valueLengths().indexOf(row.valueLength));
    }

    private void adopt(Throttle limit, long pid) {
        try {
            limit.adopt(pid);
        } catch (IOException e) {
            throw new MeasurementException("a server could not be put under its limit: " + e.getMessage(), e);
        }
    }

    private void limit(int percent) {
        try {
            throttle.orElseThrow().limit(percent);
        } catch (IOException e) {
            throw new MeasurementException(
                    "the limit of " + percent + " percent could not be set: " + e.getMessage(), e);
        }
    }

    private void limitLink(int megabits) {
        try {
            link.orElseThrow().limit(megabits);
        } catch (IOException e) {
            throw new MeasurementException(
                    "the rate of " + megabits + " Mbit/s could not be set: " + e.getMessage(), e);
        }
    }

    private void measure(WimpyRow row, int round) {
        MeasuredSystem.Server server = row.system.server(round);
        List<Integer> servers = plan.cores().servers();
        boolean dedicated = setup.remote() == null && !servers.isEmpty();
        Arrivals arrivals =
                row.isOpen() ? Arrivals.open(row.offeredPerSecond, plan.roundNs()) : Arrivals.closed(plan.roundNs());
        long readsBefore = server.reads();
        LoadOutcome[] done = new LoadOutcome[1];
        RoundMeter.Reading reading = new RoundMeter(
                        server.meter(), dedicated ? servers.subList(0, row.serverCores) : List.of())
                .around(() -> done[0] = server.load().run(space(row), row.window, arrivals));
        LoadOutcome outcome = done[0];
        double gets = outcome.gets() == 0 ? Double.NaN : outcome.gets();
        row.errors += outcome.errors();
        if (!outcome.faults().isEmpty()) {
            row.faults = outcome.faults();
        }
        reading.server().ifPresent(use -> row.shares.add(use, outcome.gets()));
        row.rounds.add(WimpyRow.GETS_PER_SECOND, outcome.perSecond());
        row.rounds.add(WimpyRow.SERVER_CPU, reading.serverMicros(gets));
        row.rounds.add(WimpyRow.SERVER_COMPILER, reading.compilerMicros(gets));
        row.rounds.add(WimpyRow.SERVER_USER, reading.serverUserMicros(gets));
        row.rounds.add(WimpyRow.SERVER_SYSTEM, reading.serverSystemMicros(gets));
        row.rounds.add(WimpyRow.SERVER_WAITED, reading.serverWaitedPercent(outcome.elapsedNs()));
        row.rounds.add(WimpyRow.SERVER_CORE, reading.coreMicros(gets));
        row.rounds.add(WimpyRow.CLIENT_CPU, reading.clientMicros(gets));
        row.rounds.add(WimpyRow.CLIENT_WAITED, reading.clientWaitedPercent(outcome.elapsedNs()));
        row.rounds.add(WimpyRow.P50, micros(outcome.latencies(), 50));
        row.rounds.add(WimpyRow.P99, micros(outcome.latencies(), 99));
        row.rounds.add(WimpyRow.P999, micros(outcome.latencies(), 99.9));
        row.rounds.add(
                WimpyRow.ONE_SIDED,
                server.responderReads() == null
                        ? Double.NaN
                        : (double) (server.reads() - readsBefore) / Math.max(1, outcome.gets()));
    }

    private static double micros(Histogram latencies, double percentile) {
        return latencies.getTotalCount() == 0 ? Double.NaN : latencies.getValueAtPercentile(percentile) / NS_PER_US;
    }
}
