package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.softrdma.bench.read.CatalogReader;
import org.softrdma.bench.read.ReadLoad;
import org.softrdma.bench.read.ReadTargets;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What more stags and more connections add to the cost of a READ. Every cell reads the same memory at positions drawn from
 * the same sequence, so that the payload's own cache misses are the same, and all rows of a system are served by one process,
 * so that they run the same compiled code: two JVMs differ by more than what is looked for. What a row does not use is there
 * but idle. With more connections the kernel's sockets and the data in flight (window x connections) grow too, which no RNIC
 * over TCP can avoid: the C baseline, which has no stags, shows that part alone. Runs on the calling thread.
 */
public final class ScaleStudy {
    private static final long POSITION_BYTES = 256;

    private final FloorSetup setup;
    private final Load settings;
    private final ObjectMapper mapper = new ObjectMapper();

    /**
     * A study.
     *
     * @param setup where and how long
     * @param settings what is measured
     */
    public ScaleStudy(FloorSetup setup, Load settings) {
        this.setup = setup;
        this.settings = settings;
    }

    /**
     * What is measured.
     *
     * @param size bytes of a READ
     * @param window READs outstanding per connection
     * @param fewConnections the smaller number of connections
     * @param manyConnections the larger
     * @param fewStags the smaller number of stags
     * @param manyStags the larger, a multiple of the smaller; memory has a position of 256 bytes for each
     * @param limit the ratio that must not be exceeded
     */
    public record Load(
            long size, int window, int fewConnections, int manyConnections, int fewStags, int manyStags, double limit) {
        /** Checks the numbers. */
        public Load {
            List<String> faults = new ArrayList<>();
            if (size < 1) {
                faults.add("--size " + size + ": expected at least 1");
            }
            if (window < 1) {
                faults.add("--window " + window + ": expected at least 1");
            }
            if (fewConnections < 1 || manyConnections < fewConnections) {
                faults.add("--connections " + fewConnections + "," + manyConnections
                        + ": expected a number from 1 and one that is not smaller");
            }
            if (fewStags < 1 || manyStags < fewStags || manyStags % fewStags != 0) {
                faults.add("--stags " + fewStags + "," + manyStags
                        + ": expected a number from 1 and a multiple of it, such as 1000,1000000");
            }
            if (!faults.isEmpty()) {
                throw new IllegalArgumentException(String.join("; ", faults));
            }
        }

        long memoryBytes() {
            return manyStags * POSITION_BYTES;
        }
    }

    private record Row(String name, int connections, int stags, ReadLoad load, ReadTargets targets, LoadCell cell) {
        void warmUp(long durationNs) {
            load.targets(targets);
            cell.warmUp(durationNs);
        }

        void round(int number, long durationNs) {
            load.targets(targets);
            cell.round(number, durationNs);
        }
    }

    /**
     * Runs the study and prints its table.
     *
     * @return the results; {@code aboveLimit} tells whether the limit was kept
     */
    public ObjectNode run() {
        setup.describe("perf scale: READs of " + settings.size() + " bytes, window " + settings.window()
                + ", from the same random positions of " + settings.memoryBytes() + " bytes in every row");
        List<String> pinning = setup.pin();
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            VerbsDevice device = setup.devices().open(Map.of("progress", "manual"));
            opened.add(device);
            List<Row> systems = open(pinning, device, opened);
            setup.progress().accept("warming up");
            systems.forEach(system -> system.warmUp(setup.warmUpNs()));
            systems.stream()
                    .filter(system -> system.stags() > 0)
                    .forEach(system -> system.cell().startAllocation());
            for (int round = 0; round < setup.rounds(); round++) {
                setup.progress().accept("round " + (round + 1) + " of " + setup.rounds());
                List<Row> order = round % 2 == 0 ? systems : systems.reversed();
                int number = round;
                order.forEach(system -> system.round(number, setup.roundNs()));
            }
            systems.stream()
                    .filter(system -> system.stags() > 0)
                    .forEach(system -> system.cell().endAllocation());
            return report(systems);
        } finally {
            FloorSetup.closeAll(opened);
        }
    }

    private List<Row> open(List<String> pinning, VerbsDevice device, List<AutoCloseable> opened) {
        setup.progress()
                .accept("soft RNIC: registering " + settings.fewStags() + " and " + settings.manyStags() + " stags");
        ResponderProcess soft = setup.startResponder(
                pinning,
                List.of(
                        "--progress",
                        "engine",
                        "--memory",
                        Long.toString(settings.memoryBytes()),
                        "--slices",
                        settings.fewStags() + "," + settings.manyStags(),
                        "--overlap",
                        Long.toString(settings.size())));
        opened.add(soft);
        List<Row> rows = new ArrayList<>();
        List<ReadLoad> loads = List.of(
                connect(device, soft, settings.fewConnections(), opened),
                connect(device, soft, settings.manyConnections(), opened));
        for (RemoteRegion catalog : soft.catalogs()) {
            int[] rkeys = CatalogReader.read(device, soft.address(), catalog);
            for (ReadLoad load : loads) {
                rows.add(row("soft RNIC", soft, load, rkeys, rkeys.length));
            }
        }
        ResponderProcess yardstick = ResponderProcess.yardstick(
                setup.programs().readResponder(setup.hosts()),
                pinning,
                settings.memoryBytes() + settings.size(),
                false);
        opened.add(yardstick);
        for (int connections : new int[] {settings.fewConnections(), settings.manyConnections()}) {
            rows.add(row("C baseline", yardstick, connect(device, yardstick, connections, opened), new int[] {0}, 0));
        }
        return rows;
    }

    private ReadLoad connect(
            VerbsDevice device, ResponderProcess responder, int connections, List<AutoCloseable> opened) {
        setup.progress().accept("connecting " + connections + " times");
        ReadTargets nothingYet = ReadTargets.ofSlices(0, new int[] {0}, settings.manyStags(), POSITION_BYTES);
        ReadLoad load = ReadLoad.connect(
                device, responder.address(), connections, settings.window(), settings.size(), nothingYet);
        opened.add(load);
        return load;
    }

    private Row row(String name, ResponderProcess responder, ReadLoad load, int[] rkeys, int stags) {
        ReadTargets targets =
                ReadTargets.ofSlices(responder.memory().address(), rkeys, settings.manyStags(), POSITION_BYTES);
        LoadCell cell = new LoadCell(
                List.of(new LoadCell.Server(responder, load)), setup.serverCore(), settings.window(), settings.size());
        return new Row(name, load.connections(), stags, load, targets, cell);
    }

    private ObjectNode report(List<Row> systems) {
        ObjectNode root = mapper.createObjectNode();
        root.put("schema", 1).put("study", "scale");
        root.set("machine", mapper.valueToTree(setup.machine()));
        root.set("settings", mapper.valueToTree(settings));
        ArrayNode cells = root.putArray("cells");
        setup.out().println("""

                system       connections     stags   server CPU us/READ   core us/READ   kREADs/s   ratio to its first row""");
        LoadCell first = systems.get(0).cell();
        LoadCell firstYardstick = systems.get(systems.size() - 2).cell();
        for (Row system : systems) {
            LoadCell cell = system.cell();
            double ratio = cell.ratio(LoadCell.CPU, system.stags() == 0 ? firstYardstick : first);
            setup.out()
                    .println(String.format(
                            Locale.ROOT,
                            "%-12s %11d %9s   %18.2f   %12.2f   %8.1f   %22.2f",
                            system.name(),
                            system.connections(),
                            system.stags() == 0 ? "-" : Integer.toString(system.stags()),
                            cell.median(LoadCell.CPU),
                            cell.median(LoadCell.CORE),
                            cell.median(LoadCell.RATE) / 1e3,
                            ratio));
            ObjectNode node = cell.json();
            node.put("system", system.name())
                    .put("connections", system.connections())
                    .put("stags", system.stags())
                    .put("ratio", ratio);
            cells.add(node);
        }
        verdict(root, systems);
        return root;
    }

    private void verdict(ObjectNode root, List<Row> systems) {
        LoadCell few = systems.get(0).cell();
        LoadCell manyConnections = systems.get(1).cell();
        LoadCell manyStags = systems.get(2).cell();
        LoadCell both = systems.get(3).cell();
        double all = both.ratio(LoadCell.CPU, few);
        double tcp = systems.get(5).cell().ratio(LoadCell.CPU, systems.get(4).cell());
        boolean above = !(all <= settings.limit());
        root.put("ratio", all)
                .put("ratioOfStags", manyStags.ratio(LoadCell.CPU, few))
                .put("ratioOfConnections", manyConnections.ratio(LoadCell.CPU, few))
                .put("ratioOfConnectionsYardstick", tcp)
                .put("ratioBeyondYardstick", all / tcp)
                .put("aboveLimit", above);
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "more stags alone: %.2f; more connections alone: %.2f (C baseline: %.2f); both: %.2f, %s %.2f; "
                                + "both beyond what the C baseline pays for its sockets: %.2f",
                        manyStags.ratio(LoadCell.CPU, few),
                        manyConnections.ratio(LoadCell.CPU, few),
                        tcp,
                        all,
                        above ? "above" : "within",
                        settings.limit(),
                        all / tcp));
        setup.out().flush();
    }
}
