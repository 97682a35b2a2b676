package org.softrdma.bench.compare;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.cpu.ThreadClass;
import org.softrdma.bench.cpu.ThreadPriority;
import org.softrdma.bench.machine.CpuWorkers;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.measurement.MedianOfRounds;
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
 * The designs beside other work on the servers' core, as Nessie's figures 2, 7 and 8 have it: CPU workers that hash without
 * end, none to some of them. At usual priority one thread drives device and store; where the RNIC comes first it has a thread
 * of its own. One load: the shortest
 * values, the widest window, the mix with most GETs. The thread of the study. Of one use.
 */
final class WorkersBlock {
    /** The nice value of an RNIC that comes first. */
    static final int RAISED = -10;

    private static final int USUAL = 0;

    private final ComparePlan plan;
    private final StudySetup setup;
    private final SystemTurns turns;
    private final Map<String, String> skipped;
    private final int valueLength;
    private final Mix mix;
    private final Map<Cell, Tally> tallies = new LinkedHashMap<>();

    /** A design next to a number of workers. */
    private record Cell(String system, boolean raised, int workers) {}

    /** A design and its load. */
    private record Loaded(ComparedSystem system, MixLoad load) {}

    /** What the rounds of a cell have found. */
    private static final class Tally {
        private final MedianOfRounds rounds = new MedianOfRounds();
        private final Map<String, Long> errors = new TreeMap<>();
        private long operations;
    }

    /**
     * A block that is not measured yet.
     *
     * @param skipped takes what is left out, with the reason
     */
    WorkersBlock(ComparePlan plan, StudySetup setup, SystemTurns turns, Map<String, String> skipped) {
        this.plan = plan;
        this.setup = setup;
        this.turns = turns;
        this.skipped = skipped;
        valueLength =
                plan.valueLengths().stream().mapToInt(Integer::intValue).min().orElseThrow();
        mix = plan.mixes().stream()
                .max(Comparator.comparingInt(Mix::getPercent))
                .orElseThrow();
    }

    /** Measures; no rows where it cannot be done. */
    List<WorkersRow> run() {
        if (plan.workers().isEmpty() || plan.designs().isEmpty()) {
            return List.of();
        }
        if (plan.cores().servers().isEmpty()) {
            skipped.put("CPU workers", "servers have no core of their own here");
            return List.of();
        }
        try (CloseStack opened = new CloseStack()) {
            List<Loaded> usual = filled(CompareRow.Server.SLEEPING, opened);
            List<Loaded> twoThreads = filled(CompareRow.Server.TWO_THREADS, opened);
            measure(usual, mayRaise(twoThreads) ? twoThreads : List.of());
        }
        return rows();
    }

    private List<Loaded> filled(CompareRow.Server form, CloseStack opened) {
        SystemList<ComparedSystem> list = new CompareSystems(plan, setup, valueLength, form, opened).startDesigns();
        Pinning.detect().pinThisProcess(plan.cores().load()).ifPresent(setup.progress()::say);
        MixPairs pairs = new MixPairs(plan.pairs(), valueLength);
        List<Loaded> loaded = new ArrayList<>();
        for (ComparedSystem system : list.systems()) {
            MixLoad load = new MixLoad(system.connections(), pairs, plan.maxWindow());
            turns.attempt(system, () -> {
                turns.fill(system, load, pairs);
                loaded.add(new Loaded(system, load));
            });
        }
        return loaded;
    }

    /** The systems with one thread at usual priority, those with two with the RNIC's before all others. */
    private void measure(List<Loaded> usual, List<Loaded> raised) {
        List<Loaded> all = new ArrayList<>(usual);
        all.addAll(raised);
        int rounds = plan.timing().rounds();
        setup.progress()
                .begin((SystemTurns.WARM_UP_PASSES + rounds * plan.workers().size()) * all.size());
        Warmth.warmUp(
                SystemTurns.WARM_UP_PASSES,
                all,
                each -> each.system.kind().compiles(),
                each -> turns.warmUp(each.system, each.load, mix, plan.maxWindow()));
        for (int round = 1; round <= rounds; round++) {
            for (int workers : plan.workers()) {
                besideWorkers(usual, false, workers, round);
            }
            for (int workers : raised.isEmpty() ? List.<Integer>of() : plan.workers()) {
                besideWorkers(raised, true, workers, round);
            }
        }
    }

    /** True if this machine lets us put an RNIC first; else says why not. */
    private boolean mayRaise(List<Loaded> loaded) {
        if (loaded.isEmpty()) {
            return false;
        }
        try {
            long server = loaded.getFirst().system.process().pid();
            ThreadPriority.set(server, ThreadClass.RNIC, RAISED);
            ThreadPriority.set(server, ThreadClass.RNIC, USUAL);
            return true;
        } catch (IOException e) {
            skipped.put("RNIC at raised priority", String.valueOf(e.getMessage()));
            return false;
        }
    }

    private void besideWorkers(List<Loaded> loaded, boolean raised, int workers, int round) {
        List<String> pinning = Pinning.detect().prefix(plan.cores().servers().subList(0, 1));
        try (CpuWorkers others = CpuWorkers.start(pinning, workers)) {
            for (Loaded each : loaded) {
                turns.attempt(each.system, () -> measure(each, new Cell(each.system.label(), raised, workers), round));
                setup.progress()
                        .step("round " + round + " of " + plan.timing().rounds() + ", " + workers + " CPU workers");
            }
            if (!others.areAlive()) {
                throw new MeasurementException("a CPU worker has ended: the figures beside it would be wrong");
            }
        } catch (IOException e) {
            throw new MeasurementException("CPU workers: " + e.getMessage(), e);
        }
    }

    private void measure(Loaded each, Cell cell, int round) {
        if (cell.raised) {
            setPriority(each.system, RAISED);
        }
        MixOutcome[] done = new MixOutcome[1];
        RoundMeter.Reading reading = new RoundMeter(each.system.meter(), List.of())
                .around(() -> done[0] = turns.run(
                        each.load,
                        mix,
                        plan.maxWindow(),
                        MixLoad.End.afterNs(plan.timing().roundNs()),
                        round));
        if (cell.raised) {
            setPriority(each.system, USUAL);
        }
        MixOutcome outcome = done[0];
        Tally tally = tallies.computeIfAbsent(cell, key -> new Tally());
        tally.operations += outcome.operations();
        outcome.errors().forEach((fault, count) -> {
            if (!(each.system.lossy() && fault == MixOutcome.Fault.MISSING)) {
                tally.errors.merge(fault.name(), count, Long::sum);
            }
        });
        tally.rounds.add(CompareRow.PER_SECOND, outcome.perSecond());
        tally.rounds.add(CompareRow.SERVER_CPU, reading.serverMicros((double) Math.max(1, outcome.operations())));
        tally.rounds.add(CompareRow.GET_P50, CompareTally.micros(outcome.getLatencies(), CompareTally.MEDIAN));
        tally.rounds.add(CompareRow.GET_P99, CompareTally.micros(outcome.getLatencies(), CompareTally.TAIL));
    }

    private static void setPriority(ComparedSystem system, int nice) {
        try {
            ThreadPriority.set(system.process().pid(), ThreadClass.RNIC, nice);
        } catch (IOException e) {
            throw new MeasurementException(system.label() + ": " + e.getMessage(), e);
        }
    }

    private List<WorkersRow> rows() {
        List<WorkersRow> rows = new ArrayList<>();
        tallies.forEach((cell, tally) -> {
            if (!turns.failed().containsKey(cell.system)) {
                rows.add(new WorkersRow(
                        cell.system,
                        cell.workers,
                        cell.raised,
                        valueLength,
                        plan.maxWindow(),
                        mix.name(),
                        tally.operations,
                        tally.rounds.medians(),
                        tally.rounds.perRound(),
                        tally.errors));
            }
        });
        return rows;
    }
}
