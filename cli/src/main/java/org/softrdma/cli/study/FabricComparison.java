package org.softrdma.cli.study;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.softrdma.bench.compare.ComparePlan;
import org.softrdma.bench.compare.CompareResults;
import org.softrdma.bench.compare.CompareRow;
import org.softrdma.bench.compare.CompareTally;
import org.softrdma.bench.compare.HotKeysRow;
import org.softrdma.bench.compare.NodesRow;
import org.softrdma.bench.compare.SystemKind;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.DesignConnections;
import org.softrdma.bench.workload.KeyChoice;
import org.softrdma.bench.workload.KvReadConnections;
import org.softrdma.bench.workload.Mix;
import org.softrdma.bench.workload.MixLoad;
import org.softrdma.bench.workload.MixOutcome;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.bench.workload.StoreConnections;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.fabric.scheduler.SimulationException;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreException;
import org.softrdma.suites.kv.FabricStore;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Counts what the stores do on a fabric: each with a fabric of its own of the same seed, a server on one node and the
 * load on another. One seed gives one result, whatever the machine. Runs on the calling thread. Of one use.
 */
final class FabricComparison {
    private static final String ELSEWHERE = "it is no process of a fabric: compare it without --fabric";

    private final ComparePlan plan;
    private final long seed;
    private final int operations;
    private final List<Integer> nodes;
    private final Consumer<String> said;
    private final List<CompareRow> rows = new ArrayList<>();
    private final List<NodesRow> nodesRows = new ArrayList<>();
    private final List<HotKeysRow> hotKeys = new ArrayList<>();
    private final Map<String, String> skipped = new LinkedHashMap<>();
    private final Map<String, String> failed = new LinkedHashMap<>();

    /**
     * A comparison to come.
     *
     * @param plan what is compared; its rounds and cores do not matter
     * @param seed of the fabrics
     * @param operations of each row
     * @param nodes also a store of so many nodes, each; empty for none
     * @param said told what happens
     */
    FabricComparison(ComparePlan plan, long seed, int operations, List<Integer> nodes, Consumer<String> said) {
        this.plan = plan;
        this.seed = seed;
        this.operations = operations;
        this.nodes = List.copyOf(nodes);
        this.said = said;
    }

    /** Counts. */
    CompareResults run() {
        for (int valueLength : plan.valueLengths()) {
            for (StoreDesign design : plan.designs()) {
                attempt(design.name(), valueLength, () -> count(design, valueLength));
            }
            if (plan.systems().contains(ComparePlan.KV)) {
                attempt(ComparePlan.KV, valueLength, () -> count(ComparePlan.KV, Registration.ARENA, valueLength));
            }
            if (plan.systems().contains(ComparePlan.KV_CHUNK)) {
                attempt(
                        ComparePlan.KV_CHUNK,
                        valueLength,
                        () -> count(ComparePlan.KV_CHUNK, Registration.CHUNK, valueLength));
            }
        }
        if (plan.systems().contains(HotKeysComparison.DESIGN)) {
            said.accept("counting races of " + HotKeysComparison.DESIGN + " at a few keys");
            attempt(
                    HotKeysComparison.DESIGN + ", few keys",
                    () -> hotKeys.addAll(new HotKeysComparison(plan, seed, operations).run()));
        }
        for (int count : nodes) {
            attempt(
                    NodesComparison.DESIGN + ", " + count + " nodes",
                    () -> nodesRows.addAll(new NodesComparison(plan, seed, operations, said).run(count)));
        }
        for (String other : List.of(ComparePlan.KV_TCP, ComparePlan.MEMCACHED, ComparePlan.REDIS)) {
            if (plan.systems().contains(other)) {
                skipped.put(other, ELSEWHERE);
            }
        }
        return new CompareResults(
                CompareResults.SCHEMA,
                CompareResults.STUDY,
                null,
                "simulated",
                plan.scenario(),
                new CompareResults.Conditions(
                        "of the fabric",
                        "fabric",
                        plan.protocol().name().toLowerCase(Locale.ROOT),
                        plan.connections(),
                        plan.pairs(),
                        MixPairs.KEY_LENGTH,
                        plan.skew(),
                        1,
                        0,
                        operations,
                        seed,
                        false),
                rows,
                List.of(),
                nodesRows,
                hotKeys,
                skipped,
                failed,
                plan.promises());
    }

    private void attempt(String system, int valueLength, Runnable work) {
        said.accept("counting " + system + ", values of " + valueLength + " bytes");
        attempt(system + ", " + valueLength + " bytes", work);
    }

    private void attempt(String subject, Runnable work) {
        try {
            work.run();
        } catch (MeasurementException | StoreException | SimulationException e) {
            failed.put(subject, String.valueOf(e.getMessage()));
        }
    }

    // ---- designs

    private void count(StoreDesign design, int valueLength) {
        ComparisonPlace place = new ComparisonPlace(seed, 1);
        List<CompareRow> counted = new ArrayList<>();
        place.fabric().run(place.client(), () -> {
            Set<Feature> missing = missing(place, design);
            if (!missing.isEmpty()) {
                skipped.put(design.name(), "a device of the fabric has no " + missing);
                return;
            }
            place.letTimePass();
            ComparisonPlace.Serving serving = place.serve(design, plan, valueLength);
            try (StoreConnections connections = new DesignConnections(
                    place.client().open(ComparisonPlace.deviceOptions(design, plan.protocol())),
                    true,
                    plan.connections(),
                    device -> design.connect(
                            device, place.clientContext(plan, valueLength).conclude()))) {
                boolean lossy = design.promises(plan.protocol()).lossy();
                MixLoad load = place.load(connections, new MixPairs(plan.pairs(), valueLength), plan.maxWindow());
                load.insertAll();
                counted.addAll(count(
                        new Subject(design.name(), SystemKind.DESIGN, lossy),
                        connections,
                        load,
                        valueLength,
                        () -> serving.device().counters(),
                        () -> memory(serving.store().space())));
            }
            serving.stop();
        });
        rows.addAll(counted);
    }

    private Set<Feature> missing(ComparisonPlace place, StoreDesign design) {
        Set<Feature> missing = new HashSet<>(design.needs(plan.protocol()));
        try (VerbsDevice device = place.client().open(ComparisonPlace.deviceOptions(design, plan.protocol()))) {
            missing.removeAll(device.capabilities().features());
        }
        return missing;
    }

    private static Map<String, Long> memory(SpaceUse space) {
        return Map.of(
                "pairs", space.pairs(),
                "dataBytes", space.dataBytes(),
                "usedBytes", space.usedBytes(),
                "registeredBytes", space.registeredBytes());
    }

    // ---- the key-value server

    private void count(String name, Registration registration, int valueLength) {
        ComparisonPlace place = new ComparisonPlace(seed, 1);
        List<CompareRow> counted = new ArrayList<>();
        place.fabric().run(place.server(0), () -> {
            place.letTimePass();
            try (FabricStore store = FabricStore.open(
                    place.fabric(),
                    place.server(0),
                    context -> context.items(items -> items.registration(registration)))) {
                SimulatedThread thread =
                        place.client().start("load", () -> counted.addAll(countKv(place, store, name, valueLength)));
                place.until(thread::isEnded);
            }
        });
        rows.addAll(counted);
    }

    private List<CompareRow> countKv(ComparisonPlace place, FabricStore store, String name, int valueLength) {
        VerbsDevice device = place.client().open(Map.of());
        CompletionLoop loop = new CompletionLoop(
                device,
                plan.connections(),
                plan.maxWindow(),
                place.fabric().clock(),
                place.fabric().idleStrategy());
        List<KvClient> clients = new ArrayList<>();
        for (int i = 0; i < plan.connections(); i++) {
            clients.add(new KvClient(
                    loop,
                    FabricStore.client(place.fabric(), place.client(), store.address())
                            .protocol(KvProtocol.RDMA)
                            .window(plan.maxWindow())
                            .locatorCapacity(8 * plan.pairs())
                            .conclude()));
        }
        try (StoreConnections connections =
                new KvReadConnections(device, true, loop, clients, null, plan.connections() * plan.maxWindow())) {
            MixLoad load = place.load(connections, new MixPairs(plan.pairs(), valueLength), plan.maxWindow());
            load.insertAll();
            load.getAll(false); // clients learn where items are
            return count(
                    new Subject(name, SystemKind.KV_READ, false),
                    connections,
                    load,
                    valueLength,
                    () -> store.device().counters(),
                    Map::of);
        }
    }

    // ---- all

    /** What is counted. */
    private record Subject(String name, SystemKind kind, boolean lossy) {}

    private List<CompareRow> count(
            Subject subject,
            StoreConnections connections,
            MixLoad load,
            int valueLength,
            Supplier<Map<String, Long>> responder,
            Supplier<Map<String, Long>> memory) {
        List<CompareRow> counted = new ArrayList<>();
        for (int window : plan.windows()) {
            for (Mix mix : plan.mixes()) {
                CompareTally tally = new CompareTally(
                        subject.name,
                        subject.kind,
                        CompareRow.Server.OWN,
                        new CompareTally.Load(valueLength, window, mix.name()),
                        subject.lossy);
                CompareTally.Counts before = counts(connections, responder);
                MixOutcome outcome = load.run(
                        mix, new KeyChoice(plan.pairs(), plan.skew(), seed), window, MixLoad.End.after(operations));
                tally.add(outcome);
                tally.add(before, counts(connections, responder));
                tally.memory(memory.get());
                counted.add(tally.row());
            }
        }
        return counted;
    }

    private static CompareTally.Counts counts(StoreConnections connections, Supplier<Map<String, Long>> responder) {
        Map<String, Long> served = new LinkedHashMap<>(responder.get());
        served.keySet().removeIf(name -> !name.startsWith("responder"));
        return new CompareTally.Counts(
                connections.counters(), connections.otherRetries(), connections.deviceCounters(), served);
    }
}
