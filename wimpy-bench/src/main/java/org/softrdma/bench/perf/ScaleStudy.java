package org.softrdma.bench.perf;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.softrdma.verbs.VerbsDevice;

/**
 * What more stags and more connections add to the cost of a READ. Every cell reads the same memory at positions drawn from
 * the same sequence, so that the payload's own cache misses are the same; each responder is a process of its own. With more
 * connections the kernel's sockets and the data in flight (window x connections) grow too, which no RNIC over TCP can avoid:
 * the C yardstick, which has no stags, shows that part alone. Runs on the calling thread.
 */
public final class ScaleStudy {
    private static final long POSITION_BYTES = 256;

    private final StudySetup setup;
    private final Load settings;
    private final ObjectMapper mapper = new ObjectMapper();

    /**
     * A study.
     *
     * @param setup where and how long
     * @param settings what is measured
     */
    public ScaleStudy(StudySetup setup, Load settings) {
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
            if (size < 1
                    || window < 1
                    || fewConnections < 1
                    || manyConnections < fewConnections
                    || fewStags < 1
                    || manyStags % fewStags != 0) {
                throw new IllegalArgumentException("size=" + size + ", window=" + window + ", connections="
                        + fewConnections + "," + manyConnections + ", stags=" + fewStags + "," + manyStags
                        + ": expected a smaller and a larger number, stags multiples of each other");
            }
        }

        long memoryBytes() {
            return manyStags * POSITION_BYTES;
        }
    }

    private record Row(String name, int connections, int stags, LoadCell cell) {}

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
            systems.forEach(system -> system.cell().warmUp(setup.warmUpNs()));
            systems.stream()
                    .filter(system -> system.stags() > 0)
                    .forEach(system -> system.cell().startAllocation());
            for (int round = 0; round < setup.rounds(); round++) {
                setup.progress().accept("round " + (round + 1) + " of " + setup.rounds());
                List<Row> order = round % 2 == 0 ? systems : systems.reversed();
                order.forEach(system -> system.cell().round(setup.roundNs()));
            }
            systems.stream()
                    .filter(system -> system.stags() > 0)
                    .forEach(system -> system.cell().endAllocation());
            return report(systems);
        } finally {
            closeAll(opened);
        }
    }

    private List<Row> open(List<String> pinning, VerbsDevice device, List<AutoCloseable> opened) {
        List<Row> systems = new ArrayList<>();
        for (int stags : new int[] {settings.fewStags(), settings.manyStags()}) {
            for (int connections : new int[] {settings.fewConnections(), settings.manyConnections()}) {
                setup.progress()
                        .accept("soft RNIC: registering " + stags + " stags, connecting " + connections + " times");
                ResponderProcess responder = ResponderProcess.soft(
                        setup.responder(),
                        pinning,
                        List.of(
                                "--progress",
                                "engine",
                                "--memory",
                                Long.toString(settings.memoryBytes()),
                                "--slices",
                                Integer.toString(stags),
                                "--overlap",
                                Long.toString(settings.size())));
                opened.add(responder);
                int[] rkeys = CatalogReader.read(device, responder.address(), responder.catalog());
                ReadTargets targets =
                        ReadTargets.ofSlices(responder.memory().address(), rkeys, settings.manyStags(), POSITION_BYTES);
                systems.add(connect(device, responder, connections, rkeys.length, targets, opened));
            }
        }
        for (int connections : new int[] {settings.fewConnections(), settings.manyConnections()}) {
            setup.progress().accept("C yardstick: connecting " + connections + " times");
            ResponderProcess responder = ResponderProcess.yardstick(
                    setup.programs().readResponder(), pinning, settings.memoryBytes() + settings.size(), false);
            opened.add(responder);
            ReadTargets targets = ReadTargets.ofSlices(0, new int[] {0}, settings.manyStags(), POSITION_BYTES);
            systems.add(connect(device, responder, connections, 0, targets, opened));
        }
        return systems;
    }

    private Row connect(
            VerbsDevice device,
            ResponderProcess responder,
            int connections,
            int stags,
            ReadTargets targets,
            List<AutoCloseable> opened) {
        ReadLoad load =
                ReadLoad.connect(device, responder.address(), connections, settings.window(), settings.size(), targets);
        opened.add(load);
        LoadCell cell = new LoadCell(load, responder, setup.serverCore(), settings.window(), settings.size());
        return new Row(stags == 0 ? "C yardstick" : "soft RNIC", connections, stags, cell);
    }

    private ObjectNode report(List<Row> systems) {
        ObjectNode root = mapper.createObjectNode();
        root.put("schema", 1).put("study", "scale");
        root.set("machine", mapper.valueToTree(setup.machine()));
        root.set("settings", mapper.valueToTree(settings));
        ArrayNode cells = root.putArray("cells");
        setup.out().println("""

                system       connections     stags   server CPU us/READ   core us/READ   kREADs/s   ratio to its first row   heap B/READ""");
        LoadCell first = systems.get(0).cell();
        LoadCell firstYardstick = systems.get(systems.size() - 2).cell();
        for (Row system : systems) {
            LoadCell cell = system.cell();
            double ratio = cell.ratio(LoadCell.CPU, system.stags() == 0 ? firstYardstick : first);
            setup.out()
                    .println(String.format(
                            Locale.ROOT,
                            "%-12s %11d %9s   %18.2f   %12.2f   %8.1f   %22.2f   %11.1f",
                            system.name(),
                            system.connections(),
                            system.stags() == 0 ? "-" : Integer.toString(system.stags()),
                            cell.median(LoadCell.CPU),
                            cell.median(LoadCell.CORE),
                            cell.median(LoadCell.RATE) / 1e3,
                            ratio,
                            cell.serverBytesPerRead()));
            ObjectNode node = FloorStudy.json(cell);
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
                .put("aboveLimit", above);
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "more stags alone: %.2f; more connections alone: %.2f (C yardstick: %.2f); both: %.2f, %s %.2f",
                        manyStags.ratio(LoadCell.CPU, few),
                        manyConnections.ratio(LoadCell.CPU, few),
                        tcp,
                        all,
                        above ? "above" : "within",
                        settings.limit()));
        setup.out().flush();
    }

    private static void closeAll(List<AutoCloseable> opened) {
        for (AutoCloseable closeable : opened.reversed()) {
            try {
                closeable.close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new PerfException("could not close " + closeable + ": " + e.getMessage(), e);
            }
        }
    }
}
