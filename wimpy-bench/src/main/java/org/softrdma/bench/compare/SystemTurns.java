package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.study.RoundMeter;
import org.softrdma.bench.study.StudySetup;
import org.softrdma.bench.workload.KeyChoice;
import org.softrdma.bench.workload.Mix;
import org.softrdma.bench.workload.MixLoad;
import org.softrdma.bench.workload.MixOutcome;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.kv.client.KvException;
import org.softrdma.stores.StoreException;
import org.softrdma.verbs.VerbsException;

/**
 * Lets systems take turns: the server of a design runs while it is loaded, and stands still otherwise. What breaks is left out
 * from then on. The thread of the study.
 */
final class SystemTurns {
    /** Least passes over all systems before the first round. */
    static final int WARM_UP_PASSES = 2;

    private static final long SEED = 0xC0_FFEE;

    private final ComparePlan plan;
    private final StudySetup setup;
    private final Map<String, String> failed = new LinkedHashMap<>();

    SystemTurns(ComparePlan plan, StudySetup setup) {
        this.plan = plan;
        this.setup = setup;
    }

    /** What has broken, with what it said. */
    Map<String, String> failed() {
        return failed;
    }

    boolean hasFailed(ComparedSystem system) {
        return failed.containsKey(system.label());
    }

    /** Does something with a system, unless it has broken. */
    void attempt(ComparedSystem system, Runnable work) {
        if (hasFailed(system)) {
            return;
        }
        boolean standing = system.kind() == SystemKind.DESIGN;
        try {
            if (standing) {
                system.process().resume();
            }
            work.run();
            if (standing) {
                system.process().suspend();
            }
        } catch (MeasurementException | KvException | StoreException | VerbsException e) {
            RuntimeException reason = system.process().explain(e);
            setup.progress().say(system.label() + " has failed: " + reason.getMessage());
            failed.put(system.label(), String.valueOf(reason.getMessage()));
        }
    }

    /** Stores the pairs, and looks at each of them once. Within {@link #attempt}. */
    void fill(ComparedSystem system, MixLoad load, MixPairs pairs) {
        setup.progress()
                .say("storing " + pairs.size() + " pairs of " + pairs.valueLength() + " bytes in " + system.label());
        load.insertAll();
        load.getAll(system.lossy());
    }

    /** Lets a system warm up for one pass; says what its server used, unless it has broken. */
    Optional<CpuUse> warmUp(ComparedSystem system, MixLoad load, Mix mix, int window) {
        long ns = plan.timing().warmUpNs(system.kind()) / WARM_UP_PASSES;
        List<CpuUse> used = new ArrayList<>();
        attempt(
                system,
                () -> new RoundMeter(system.meter(), List.of())
                        .around(() -> {
                            MixOutcome ignored = run(load, mix, window, MixLoad.End.afterNs(ns), -1);
                        })
                        .server()
                        .ifPresent(used::add));
        setup.progress().step("warming up");
        return used.stream().findFirst();
    }

    /** Loads a system. All systems are asked for the same keys in the same round. Within {@link #attempt}. */
    MixOutcome run(MixLoad load, Mix mix, int window, MixLoad.End end, int round) {
        return load.run(mix, new KeyChoice(plan.pairs(), plan.skew(), SEED + round), window, end);
    }
}
