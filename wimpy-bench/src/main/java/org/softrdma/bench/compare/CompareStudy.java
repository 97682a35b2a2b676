package org.softrdma.bench.compare;

import java.io.IOException;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.softrdma.bench.cpu.AllocationMeter;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.machine.LoopbackTraffic;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.study.RoundMeter;
import org.softrdma.bench.study.StudySetup;
import org.softrdma.bench.study.SystemList;
import org.softrdma.bench.study.Warmth;
import org.softrdma.bench.workload.Mix;
import org.softrdma.bench.workload.MixLoad;
import org.softrdma.bench.workload.MixOutcome;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.kv.CloseStack;

/**
 * Stores side by side. For each value size all servers run at the same time, on one core; one is loaded at a time, the
 * systems take turns within a round, and servers of designs, whose threads look for work even when there is none,
 * stand still until it is their turn. Runs on the calling thread, which drives the devices of the load. Of one use.
 */
public final class CompareStudy {
    /** What the server of a design says of its heap. */
    private static final String ALLOCATED = "allocatedBytes";

    /** Workers with threads of their own that are compared. */
    private static final List<Integer> WORKER_THREADS = List.of(1, 2);

    private final ComparePlan plan;
    private final StudySetup setup;
    private final AllocationMeter allocation = new AllocationMeter();
    private final List<CompareRow> rows = new ArrayList<>();
    private final List<WorkersRow> workers = new ArrayList<>();
    private final Map<String, String> skipped = new LinkedHashMap<>();
    private final SystemTurns turns;

    /** One system under one load. */
    private record Measured(ComparedSystem system, MixLoad load, int window, Mix mix, CompareTally tally) {}

    /**
     * A study.
     *
     * @param plan what is compared
     * @param setup where
     */
    public CompareStudy(ComparePlan plan, StudySetup setup) {
        this.plan = plan;
        this.setup = setup;
        turns = new SystemTurns(plan, setup);
    }

    /**
     * Measures, prints the table and writes results.json and report.html.
     *
     * @param directory where these go
     * @return operations that went wrong, and systems that broke
     * @throws MeasurementException if there is nothing to measure
     * @throws IOException if the results cannot be written
     */
    public long run(Path directory) throws IOException {
        String startedAt = OffsetDateTime.now(ZoneOffset.UTC)
                .truncatedTo(ChronoUnit.SECONDS)
                .toString();
        try {
            for (int valueLength : plan.valueLengths()) {
                block(valueLength, plan.windows(), plan.mixes(), CompareRow.Server.SLEEPING);
            }
            if (plan.spinning()) {
                // One cell: the widest window, the mix with most PUTs, the longest values.
                Mix mix = plan.mixes().stream()
                        .min(Comparator.comparingInt(Mix::getPercent))
                        .orElseThrow();
                int longest = plan.valueLengths().stream()
                        .mapToInt(Integer::intValue)
                        .max()
                        .orElseThrow();
                block(longest, List.of(plan.maxWindow()), List.of(mix), CompareRow.Server.SPINNING);
                // And one with most GETs, in which workers have threads of their own.
                Mix gets = plan.mixes().stream()
                        .max(Comparator.comparingInt(Mix::getPercent))
                        .orElseThrow();
                if (CompareSystems.hasWorkerThreads(plan)) {
                    block(longest, List.of(plan.maxWindow()), List.of(gets), CompareRow.Server.WORKER_THREADS);
                }
            }
            workers.addAll(new WorkersBlock(plan, setup, turns, skipped).run());
        } finally {
            setup.progress().end();
        }
        if (rows.isEmpty()) {
            throw new MeasurementException(
                    "nothing could be measured: " + (turns.failed().isEmpty() ? skipped : turns.failed()));
        }
        CompareResults results = results(startedAt);
        CompareReport.write(results, setup.out(), directory, setup.progress()::say);
        return results.errors();
    }

    private CompareResults results(String startedAt) {
        return new CompareResults(
                CompareResults.SCHEMA,
                CompareResults.STUDY,
                setup.machine(),
                startedAt,
                plan.scenario(),
                new CompareResults.Conditions(
                        setup.provider(),
                        setup.network(),
                        plan.protocol().name().toLowerCase(Locale.ROOT),
                        plan.connections(),
                        plan.pairs(),
                        MixPairs.KEY_LENGTH,
                        plan.skew(),
                        plan.timing().rounds(),
                        plan.timing().millis(),
                        0,
                        0,
                        !plan.cores().servers().isEmpty()),
                rows,
                workers,
                List.of(),
                List.of(),
                skipped,
                turns.failed(),
                plan.promises());
    }

    private void block(int valueLength, List<Integer> windows, List<Mix> mixes, CompareRow.Server waiting) {
        try (CloseStack opened = new CloseStack()) {
            CompareSystems systems = new CompareSystems(plan, setup, valueLength, waiting, opened);
            SystemList<ComparedSystem> list = switch (waiting) {
                case SPINNING -> systems.startDesigns();
                case WORKER_THREADS -> systems.startWorkerThreads(WORKER_THREADS);
                case OWN, SLEEPING, TWO_THREADS -> systems.startAll();
            };
            list.skipped().forEach(skipped::putIfAbsent);
            Pinning.detect().pinThisProcess(plan.cores().load()).ifPresent(setup.progress()::say);
            MixPairs pairs = new MixPairs(plan.pairs(), valueLength);
            List<Measured> block = new ArrayList<>();
            for (ComparedSystem system : list.systems()) {
                block.addAll(filled(system, pairs, windows, mixes));
            }
            measure(block);
            for (Measured each : block) {
                if (!turns.hasFailed(each.system)) {
                    rows.add(each.tally.row());
                }
            }
        }
    }

    /** Stores the pairs, and looks at each of them once. */
    private List<Measured> filled(ComparedSystem system, MixPairs pairs, List<Integer> windows, List<Mix> mixes) {
        MixLoad load = new MixLoad(system.connections(), pairs, plan.maxWindow());
        List<Measured> list = new ArrayList<>();
        turns.attempt(system, () -> {
            turns.fill(system, load, pairs);
            for (int window : windows) {
                for (Mix mix : mixes) {
                    if (system.fits(window, mix.getPercent() == Mix.C.getPercent())) {
                        list.add(new Measured(system, load, window, mix, tally(system, pairs, window, mix)));
                    }
                }
            }
        });
        return list;
    }

    private static CompareTally tally(ComparedSystem system, MixPairs pairs, int window, Mix mix) {
        return new CompareTally(
                system.label(),
                system.kind(),
                system.server(),
                new CompareTally.Load(pairs.valueLength(), window, mix.name()),
                system.lossy());
    }

    private void measure(List<Measured> block) {
        setup.progress().begin((SystemTurns.WARM_UP_PASSES + plan.timing().rounds()) * block.size());
        Warmth.warmUp(
                SystemTurns.WARM_UP_PASSES,
                block,
                each -> each.system.kind().compiles(),
                each -> turns.warmUp(each.system, each.load, each.mix, each.window));
        for (int round = 1; round <= plan.timing().rounds(); round++) {
            for (Measured each : byCell(block)) {
                int number = round;
                turns.attempt(each.system, () -> measure(each, number));
                setup.progress().step("round " + round + " of " + plan.timing().rounds());
            }
        }
        for (Measured each : block) {
            turns.attempt(
                    each.system, () -> each.tally.memory(each.system.memory().get()));
        }
    }

    /** The systems take turns under each load. */
    private List<Measured> byCell(List<Measured> block) {
        List<Measured> ordered = new ArrayList<>();
        for (int window : plan.windows()) {
            for (Mix mix : plan.mixes()) {
                block.stream()
                        .filter(each -> each.window == window && each.mix == mix)
                        .forEach(ordered::add);
            }
        }
        return ordered;
    }

    private void measure(Measured each, int round) {
        ComparedSystem system = each.system;
        boolean ownCore = !plan.cores().servers().isEmpty();
        Map<String, Long> serverBefore = system.responder().get();
        CompareTally.Counts before = counts(system, serverBefore);
        MixOutcome[] done = new MixOutcome[1];
        long[] heap = new long[1];
        Optional<LoopbackTraffic> trafficBefore = LoopbackTraffic.now();
        RoundMeter.Reading reading = new RoundMeter(
                        system.meter(), ownCore ? plan.cores().servers().subList(0, 1) : List.of())
                .around(() -> {
                    long heapBefore = allocation.ownBytes();
                    done[0] = turns.run(
                            each.load,
                            each.mix,
                            each.window,
                            MixLoad.End.afterNs(plan.timing().roundNs()),
                            round);
                    heap[0] = allocation.ownBytes() - heapBefore;
                });
        Optional<LoopbackTraffic> trafficAfter = LoopbackTraffic.now();
        Map<String, Long> serverAfter = system.responder().get();
        MixOutcome outcome = done[0];
        each.tally.add(outcome);
        each.tally.add(before, counts(system, serverAfter));
        each.tally.add(outcome, reading);
        double operations = outcome.operations();
        each.tally.addValue(CompareRow.CLIENT_HEAP, heap[0] / operations);
        if (serverAfter.containsKey(ALLOCATED)) {
            long allocated = serverAfter.getOrDefault(ALLOCATED, 0L) - serverBefore.getOrDefault(ALLOCATED, 0L);
            each.tally.addValue(CompareRow.SERVER_HEAP, allocated / operations);
        }
        if (trafficBefore.isPresent() && trafficAfter.isPresent()) {
            LoopbackTraffic was = trafficBefore.get();
            LoopbackTraffic is = trafficAfter.get();
            each.tally.addValue(CompareRow.PACKETS, (is.packets() - was.packets()) / operations);
            each.tally.addValue(CompareRow.WIRE_BYTES, (is.bytes() - was.bytes()) / operations);
        }
    }

    private static CompareTally.Counts counts(ComparedSystem system, Map<String, Long> server) {
        Map<String, Long> responder = new LinkedHashMap<>(server);
        responder.keySet().removeIf(name -> !name.startsWith("responder"));
        return new CompareTally.Counts(
                system.connections().counters(),
                system.connections().otherRetries(),
                system.connections().deviceCounters(),
                responder);
    }
}
