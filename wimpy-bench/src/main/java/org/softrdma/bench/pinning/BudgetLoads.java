package org.softrdma.bench.pinning;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.machine.MemoryGroup;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.server.MemcachedAdmin;
import org.softrdma.bench.server.ServerMeter;
import org.softrdma.bench.server.ServerProcess;
import org.softrdma.bench.study.StudySetup;
import org.softrdma.bench.workload.KeyChoice;
import org.softrdma.bench.workload.LoadOutcome;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.bench.workload.RandomKeys;
import org.softrdma.bench.workload.ReadGetLoad;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.client.KvException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * GETs by one-sided READ of servers that pin in different ways. All servers of a part run at once and take turns, so that whatever
 * else the machine does meets all of them.
 */
final class BudgetLoads {
    static final String BUDGET = "budget";
    static final String CONFINED = "confined";

    private static final int GRANULE = 256 * 1024;
    private static final double THETA = 0.99;
    private static final long SEED = 0x21F;
    private static final double NS_PER_MICRO = 1e3;
    private static final double MEDIAN = 50;
    private static final double TAIL = 99;
    /** Key and header of an item, and what its class of chunks is longer; a chunk may be a quarter too long. */
    private static final double SPACE_PER_VALUE = 1.25;

    private static final int ITEM_OVERHEAD = 80;
    private static final int MIB = 1 << 20;
    private static final int SPARE_BYTES = 16 * MIB;
    private static final int PERCENT = 100;
    private static final int STATS_COUNT = 2;
    private static final String SKIPPED_BUDGET = "GETs, ";
    private static final String SKIPPED_CONFINED = "GETs in confined memory, ";

    private final StudySetup setup;
    private final PinningPlan plan;
    private final Map<String, String> skipped;

    BudgetLoads(StudySetup setup, PinningPlan plan, Map<String, String> skipped) {
        this.setup = setup;
        this.plan = plan;
        this.skipped = skipped;
    }

    /** A server and what it is asked by. */
    private record Loaded(String name, ReadGetLoad load, MemcachedAdmin admin, ServerMeter meter) {}

    /** Budgets from a few percent of the data to all of it, beside no pinning and EAGER. */
    List<PinningRow> budgets() {
        long data = space(plan.items());
        Map<String, List<String>> systems = new LinkedHashMap<>();
        systems.put("off", List.of("--pinning", "off"));
        systems.put("eager", List.of("--pinning", "eager"));
        for (int percent : plan.budgetPercents()) {
            systems.put("lazy " + percent + " %", lazy(data * percent / PERCENT));
        }
        return measure(BUDGET, SKIPPED_BUDGET, systems, keySpace(plan.items()), List.of());
    }

    /** Servers whose items lie in a file on disk and do not fit into the memory they may use. */
    List<PinningRow> confined(Path directory) {
        List<PinningRow> rows = new ArrayList<>();
        long data = space(plan.confined().items());
        Path file = directory.resolve("items-" + ProcessHandle.current().pid());
        Map<String, List<String>> systems = new LinkedHashMap<>();
        systems.put("off", List.of("--pinning", "off"));
        systems.put("lazy, a quarter of the limit", lazy(plan.confined().bytes() / 4));
        systems.put("eager", List.of("--pinning", "eager"));
        systems.replaceAll((name, options) -> {
            List<String> all = new ArrayList<>(options);
            all.addAll(List.of("--memory-file", file.toString()));
            return all;
        });
        // One at a time, each in a group of its own: together they would fight for the disk.
        systems.forEach((name, options) -> {
            try (MemoryGroup group = MemoryGroup.create(plan.confined().bytes())) {
                rows.addAll(measure(
                        CONFINED,
                        SKIPPED_CONFINED,
                        Map.of(name, options),
                        keySpace(plan.confined().items()),
                        group.prefix()));
            } catch (IOException e) {
                skipped.put(SKIPPED_CONFINED + name, String.valueOf(e.getMessage()));
            }
        });
        setup.progress()
                .say("  confined: " + data / MIB + " MiB of items in "
                        + plan.confined().bytes() / MIB + " MiB");
        return rows;
    }

    private static List<String> lazy(long budget) {
        return List.of("--pinning", "lazy", "--pin-budget", Long.toString(Math.max(GRANULE, budget)));
    }

    private static MixPairs keySpace(PinningPlan.Items items) {
        return MixPairs.keyedByLength(items.pairs(), items.valueLength());
    }

    private static long space(PinningPlan.Items items) {
        return (long) ((double) items.pairs() * (items.valueLength() + ITEM_OVERHEAD) * SPACE_PER_VALUE);
    }

    private List<PinningRow> measure(
            String part, String what, Map<String, List<String>> systems, MixPairs pairs, List<String> prefix) {
        List<PinningRow> rows = new ArrayList<>();
        try (CloseStack opened = new CloseStack()) {
            List<Loaded> loaded = new ArrayList<>();
            systems.forEach((name, options) -> {
                setup.progress().say("  starting a server, " + part + ", " + name);
                try {
                    loaded.add(start(opened, name, options, pairs, prefix));
                } catch (RuntimeException e) {
                    skipped.put(what + name, String.valueOf(e.getMessage()));
                }
            });
            Map<String, IntUnaryOperator> distributions = new LinkedHashMap<>();
            distributions.put("uniform", new RandomKeys()::next);
            KeyChoice zipf = new KeyChoice(pairs.size(), THETA, SEED);
            distributions.put("zipf " + THETA, _ -> zipf.next());
            distributions.forEach((distribution, choice) -> {
                List<PinningRow> these = loaded.stream()
                        .map(each -> new PinningRow(part, each.name, distribution))
                        .toList();
                loaded.forEach(each -> {
                    each.load.choose(choice);
                    each.load.run(
                            pairs,
                            plan.load().window(),
                            Arrivals.closed(plan.timing().warmUpNs()));
                });
                for (int round = 0; round < plan.timing().rounds(); round++) {
                    for (int i = 0; i < these.size(); i++) {
                        measure(loaded.get(i), pairs, these.get(i));
                    }
                }
                rows.addAll(these);
            });
        }
        return rows;
    }

    private Loaded start(CloseStack opened, String name, List<String> options, MixPairs pairs, List<String> prefix) {
        List<String> before = new ArrayList<>(prefix);
        before.addAll(Pinning.detect().prefix(plan.cores().servers()));
        ServerProcess.Resources resources = new ServerProcess.Resources(
                before,
                1,
                space(new PinningPlan.Items(pairs.size(), pairs.valueLength())) + SPARE_BYTES,
                plan.load().clients() + STATS_COUNT);
        ServerProcess server = opened.add(ServerProcess.softrdma(
                setup.server(), resources.at(setup.hosts().next()), options));
        try {
            return fill(opened, name, server, pairs);
        } catch (KvException e) {
            throw server.explain(e);
        }
    }

    private Loaded fill(CloseStack opened, String name, ServerProcess server, MixPairs pairs) {
        MemcachedAdmin admin = opened.add(new MemcachedAdmin(server.address()));
        VerbsDevice device = opened.add(setup.devices().open(Map.of("progress", "manual", "pinning", "off")));
        ReadGetLoad load = opened.add(new ReadGetLoad(
                device,
                server.address(),
                new ReadGetLoad.Limits(
                        plan.load().clients(), plan.load().window(), pairs.valueLength(), pairs.size())));
        load.insert(pairs);
        load.learn(pairs);
        return new Loaded(name, load, admin, server.meter());
    }

    private void measure(Loaded loaded, MixPairs pairs, PinningRow row) {
        long evictions = counter(loaded, "device_pinning.evictions");
        long unpinned = counter(loaded, "device_pinning.unpinnedAccesses");
        loaded.meter.start();
        LoadOutcome outcome = loaded.load.run(
                pairs, plan.load().window(), Arrivals.closed(plan.timing().roundNs()));
        Optional<CpuUse> used = loaded.meter.stop();
        double gets = Math.max(1, outcome.gets());
        row.values().add(PinningRow.GETS_PER_SECOND, outcome.perSecond());
        row.values().add(PinningRow.P50, outcome.latencies().getValueAtPercentile(MEDIAN) / NS_PER_MICRO);
        row.values().add(PinningRow.P99, outcome.latencies().getValueAtPercentile(TAIL) / NS_PER_MICRO);
        row.values()
                .add(
                        PinningRow.SERVER_CPU,
                        used.map(use -> use.microsPer(Math.max(1, outcome.gets())))
                                .orElse(Double.NaN));
        row.values().add(PinningRow.EVICTIONS, (counter(loaded, "device_pinning.evictions") - evictions) / gets);
        row.values().add(PinningRow.UNPINNED, (counter(loaded, "device_pinning.unpinnedAccesses") - unpinned) / gets);
        row.values().add(PinningRow.ERRORS, (double) outcome.errors());
    }

    private static long counter(Loaded loaded, String name) {
        return Long.parseLong(loaded.admin.stats("rdma").getOrDefault(name, "0"));
    }

    /** Where a file may lie that is to be read again from a disk: not in memory. */
    static boolean isOnDisk(Path directory) {
        try {
            return !Files.getFileStore(directory).type().equals("tmpfs");
        } catch (IOException e) {
            return false;
        }
    }
}
