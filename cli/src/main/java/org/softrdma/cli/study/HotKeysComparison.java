package org.softrdma.cli.study;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.softrdma.bench.compare.ComparePlan;
import org.softrdma.bench.compare.HotKeysRow;
import org.softrdma.bench.workload.DesignConnections;
import org.softrdma.bench.workload.KeyChoice;
import org.softrdma.bench.workload.Mix;
import org.softrdma.bench.workload.MixLoad;
import org.softrdma.bench.workload.MixOutcome;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;

/**
 * Counts on a fabric how often Pilaf's GETs meet a PUT of their key, as figure 9 of its paper has it: half GETs, half PUTs, of a
 * few keys, all alike. One seed gives one result. Runs on the calling thread.
 */
final class HotKeysComparison {
    /** The design whose GETs race with PUTs. */
    static final String DESIGN = "pilaf";

    private static final List<Integer> KEYS = List.of(4, 40, 400, 4000);

    private final ComparePlan plan;
    private final long seed;
    private final int operations;

    /**
     * A comparison to come.
     *
     * @param plan its form of the design, its connections, and its shortest values
     * @param seed of the fabrics
     * @param operations of each row
     */
    HotKeysComparison(ComparePlan plan, long seed, int operations) {
        this.plan = plan;
        this.seed = seed;
        this.operations = operations;
    }

    /** Counts. */
    List<HotKeysRow> run() {
        List<HotKeysRow> rows = new ArrayList<>();
        for (int keys : KEYS) {
            ComparisonPlace place = new ComparisonPlace(seed, 1);
            place.fabric().run(place.client(), () -> rows.add(count(place, keys)));
        }
        return rows;
    }

    private HotKeysRow count(ComparisonPlace place, int keys) {
        int valueLength =
                plan.valueLengths().stream().mapToInt(Integer::intValue).min().orElseThrow();
        StoreDesign design = StoreDesigns.named(DESIGN);
        place.letTimePass();
        ComparisonPlace.Serving serving = place.serve(design, plan, valueLength);
        HotKeysRow row;
        try (DesignConnections connections = new DesignConnections(
                place.client().open(Map.of()),
                true,
                plan.connections(),
                device -> design.connect(
                        device, place.clientContext(plan, valueLength).conclude()))) {
            MixLoad load = place.load(connections, new MixPairs(keys, valueLength), plan.maxWindow());
            load.insertAll();
            StoreCounters before = connections.counters();
            MixOutcome outcome =
                    load.run(Mix.A, new KeyChoice(keys, 0, seed), plan.maxWindow(), MixLoad.End.after(operations));
            row = row(keys, outcome, before, connections.counters());
        }
        serving.stop();
        return row;
    }

    private static HotKeysRow row(int keys, MixOutcome outcome, StoreCounters before, StoreCounters after) {
        double gets = Math.max(1, outcome.gets());
        Map<String, Long> errors = new TreeMap<>();
        outcome.errors().forEach((fault, count) -> errors.put(fault.name(), count));
        return new HotKeysRow(
                keys,
                outcome.operations(),
                (after.get(StoreCounter.ENTRY_RETRIES) - before.get(StoreCounter.ENTRY_RETRIES)) / gets,
                (after.get(StoreCounter.EXTENT_RETRIES) - before.get(StoreCounter.EXTENT_RETRIES)) / gets,
                errors);
    }
}
