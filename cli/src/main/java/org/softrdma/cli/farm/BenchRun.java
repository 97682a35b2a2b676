package org.softrdma.cli.farm;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.softrdma.bench.floor.VerbsCosts;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.server.TransferStore;
import org.softrdma.farm.map.FarmMap;
import org.softrdma.farm.node.FarmNode;

/**
 * Transfers, lookups, empty messages and READs of a cluster, and transfers of other stores, by turns. The thread of the
 * command.
 *
 * @param bench what is measured
 * @param cluster the machines
 * @param client this process
 * @param replicas machines that have each object
 * @param say takes what it has found
 */
record BenchRun(Settings bench, LocalCluster cluster, ClientOfCluster client, int replicas, Consumer<String> say) {
    private static final String TRANSFER = "transfer";
    private static final String LOOKUP = "lookup";
    private static final String ECHO = "message";
    private static final String READ = "READ";
    private static final int KEY = 16;
    private static final int VALUE = 32;
    private static final int THREADS = 8;
    /** Accounts that are summed in one transaction. */
    private static final int SUMMED = 100;
    /** Bytes of a message and of an answer: those of transfers have some more, or some less. */
    static final int MESSAGE = 64;

    /**
     * What is measured.
     *
     * @param windows operations under way
     * @param accounts between which transfers are made
     * @param pairs of the hash table
     * @param rounds of each
     * @param roundNs length of a round
     * @param warmUpNs without keeping figures, of each
     * @param seed decides what is drawn
     */
    record Settings(
            List<Integer> windows, int accounts, int pairs, int rounds, long roundNs, long warmUpNs, long seed) {
        /** Copies the list. */
        Settings {
            windows = List.copyOf(windows);
        }
    }

    /**
     * Runs it.
     *
     * @param stores others
     * @param costs of verbs
     * @param rows get what was found
     */
    void run(List<TransferStore> stores, VerbsCosts costs, ArrayNode rows) {
        FarmNode node = client.node().node();
        Bank bank = new Bank(node);
        List<Long> accounts = bank.open(bench.accounts(), Bank.BALANCE);
        LoadedMap loaded = LoadedMap.create(node, bench.pairs(), KEY, VALUE);
        LoadThreads.run(THREADS, bench.pairs(), () -> {
            FarmMap open = loaded.open(node);
            return number -> LoadedMap.put(open, loaded.key(number), new byte[VALUE]);
        });
        List<BenchCell> cells = new ArrayList<>();
        for (int window : bench.windows()) {
            cells.add(cell(TRANSFER, window, new TransferLoad(node, accounts, window, bench.seed())));
            cells.add(cell(LOOKUP, window, new LookupLoad(loaded.open(node), loaded, window, bench.seed())));
            cells.add(cell(ECHO, window, new EchoLoad(node, accounts, window, MESSAGE)));
            cells.add(cell(READ, window, new ObjectReadLoad(node, accounts, Bank.LENGTH, window)));
        }
        for (TransferStore store : stores) {
            bench.windows().forEach(window -> cells.add(BenchCell.of(store, window)));
        }
        measure(cells, costs);
        tell(stores, cells, costs, rows);
        requireSums(bank, accounts, stores);
    }

    private BenchCell cell(String operation, int window, WindowLoad load) {
        return BenchCell.of(operation, window, load, cluster, client);
    }

    /** By turns, so that whatever else the machine does meets all of them. */
    private void measure(List<BenchCell> cells, VerbsCosts costs) {
        cells.forEach(cell -> cell.warmUp(bench.warmUpNs()));
        costs.warmUp(bench.warmUpNs());
        for (int round = 0; round < bench.rounds(); round++) {
            for (BenchCell cell : round % 2 == 0 ? cells : cells.reversed()) {
                cell.round(bench.roundNs());
                cluster.requireAlive();
            }
            costs.round(bench.roundNs());
        }
    }

    private void tell(List<TransferStore> stores, List<BenchCell> cells, VerbsCosts costs, ArrayNode rows) {
        say.accept("farm: " + promise(replicas));
        stores.forEach(store -> say.accept(store.name() + ": " + store.promise()));
        say.accept(BenchCell.head());
        cells.forEach(cell -> say.accept(cell.text()));
        say.accept(String.format(
                Locale.ROOT,
                "verbs alone, many under way and neither end asleep: CPU of both ends %.2f us for a WRITE that a WRITE of"
                        + " %d bytes answers, %.2f us for a READ of as many",
                costs.writeAnsweredMicros(),
                MESSAGE,
                costs.readMicros()));
        bench.windows()
                .forEach(window -> say.accept("a transfer, " + window + " under way: "
                        + explained(cells, TRANSFER, window, costs).text()));
        for (BenchCell cell : cells) {
            ObjectNode row = cell.json().put("replicas", replicas);
            if (cell.isOfFarm()) {
                ExplainedCpu explained = explained(cells, cell.operation(), cell.window(), costs);
                row.putObject("explained")
                        .put("verbsShare", explained.verbsShare())
                        .put("exchangeShare", explained.exchangeShare())
                        .put("restShare", explained.restShare())
                        .put("readMicros", explained.verbs().readMicros())
                        .put("writeMicros", explained.verbs().writeMicros());
            }
            rows.add(row);
        }
    }

    /** What FaRM promises whoever was told that a transaction is committed. */
    static String promise(int replicas) {
        return "strictly serializable; "
                + (replicas == 1
                        ? "one machine has each object in memory, none on disk: what it has is lost with it"
                        : replicas
                                + " machines have each object in memory, none on disk: what was acknowledged outlives "
                                + (replicas - 1) + " of them, and the others take over by themselves");
    }

    private static BenchCell find(List<BenchCell> cells, String operation, int window) {
        return cells.stream()
                .filter(cell -> cell.isOfFarm() && cell.operation().equals(operation) && cell.window() == window)
                .findFirst()
                .orElseThrow();
    }

    private static ExplainedCpu explained(List<BenchCell> cells, String operation, int window, VerbsCosts costs) {
        BenchCell echo = find(cells, ECHO, window);
        BenchCell read = find(cells, READ, window);
        BenchCell cell = find(cells, operation, window);
        return new ExplainedCpu(
                cell.cpuMicros(),
                cell.reads(),
                cell.writes(),
                new ExplainedCpu.Unit(costs.readMicros(), costs.writeAnsweredMicros() / 2),
                new ExplainedCpu.Unit(read.cpuMicros() / read.reads(), echo.cpuMicros() / echo.writes()));
    }

    private void requireSums(Bank bank, List<Long> accounts, List<TransferStore> stores) {
        long expected = bench.accounts() * Bank.BALANCE;
        long sum = 0;
        for (int from = 0; from < accounts.size(); from += SUMMED) {
            List<Long> some = accounts.subList(from, Math.min(from + SUMMED, accounts.size()));
            OptionalLong of = bank.sum(some);
            sum += of.orElseThrow(() -> new MeasurementException("accounts stay locked although nobody changes them"));
        }
        requireSum("farm", sum, expected);
        stores.forEach(store -> requireSum(store.name(), store.sum(), expected));
    }

    private static void requireSum(String system, long sum, long expected) {
        if (sum != expected) {
            throw new MeasurementException(
                    system + ": the sum of all accounts is " + sum + ", but was " + expected + " before the transfers");
        }
    }
}
