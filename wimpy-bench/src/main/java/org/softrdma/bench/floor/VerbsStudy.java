package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * READs beside requests that a SEND or a WRITE answers, and beside TCP, by the size of the answer: what the first figures of Pilaf,
 * HERD, Nessie and FaRM show, of a software RNIC. One request at a time for its latency, many for their number per second. Client and
 * responders spin. Runs on the calling thread; the responders are child processes.
 */
public final class VerbsStudy {
    private static final int PER_THOUSAND = 1000;

    private final FloorSetup setup;
    private final VerbsLoad settings;
    private final ObjectMapper mapper = new ObjectMapper();

    /**
     * A study.
     *
     * @param setup where and how long
     * @param settings what is measured
     */
    public VerbsStudy(FloorSetup setup, VerbsLoad settings) {
        this.setup = setup;
        this.settings = settings;
    }

    /**
     * Runs the study and prints its tables.
     *
     * @return the results
     */
    public ObjectNode run() {
        setup.describe("perf verbs: requests of 8 bytes for answers of each size, neither end asleep; one answer in "
                + RequestLoad.VERIFY_INTERVAL + " verified byte by byte");
        List<String> pinning = setup.pin();
        ObjectNode root = mapper.createObjectNode();
        root.put("schema", 1).put("study", "verbs");
        root.set("machine", mapper.valueToTree(setup.machine()));
        root.put("responders", settings.responders())
                .put("rounds", setup.rounds())
                .put("millis", setup.millis())
                .put("warmUpMillis", setup.warmUpMillis());
        ArrayNode cells = root.putArray("cells");
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            VerbsDevice device = setup.devices().open(Map.of("progress", "manual"));
            opened.add(device);
            Map<VerbsWay, List<ResponderProcess>> responders = start(pinning, opened);
            for (VerbsLoad.Shape shape : settings.shapes()) {
                header(shape);
                for (long size : settings.sizes()) {
                    row(device, responders, shape, size, cells);
                }
            }
        } finally {
            FloorSetup.closeAll(opened);
        }
        return root;
    }

    private Map<VerbsWay, List<ResponderProcess>> start(List<String> pinning, List<AutoCloseable> opened) {
        Map<VerbsWay, List<ResponderProcess>> responders = new EnumMap<>(VerbsWay.class);
        for (VerbsWay way : VerbsWay.values()) {
            List<ResponderProcess> processes = new ArrayList<>();
            for (int i = 0; i < settings.responders(); i++) {
                ResponderProcess responder = way.start(setup, pinning);
                opened.add(responder);
                responder.suspend();
                processes.add(responder);
            }
            responders.put(way, processes);
        }
        return responders;
    }

    private void row(
            VerbsDevice device,
            Map<VerbsWay, List<ResponderProcess>> responders,
            VerbsLoad.Shape shape,
            long size,
            ArrayNode results) {
        List<VerbsCell> cells = new ArrayList<>();
        try {
            responders.forEach((way, processes) -> cells.add(new VerbsCell(device, way, processes, shape, size)));
            cells.forEach(cell -> cell.warmUp(setup.warmUpNs()));
            for (int round = 0; round < setup.rounds(); round++) {
                for (VerbsCell cell : round % 2 == 0 ? cells : cells.reversed()) {
                    cell.round(round, setup.roundNs());
                }
            }
            VerbsCell read = cells.getFirst();
            cells.forEach(cell -> results.add(cell.json(read)));
            report(size, cells, read);
        } finally {
            FloorSetup.closeAll(cells);
        }
    }

    private void header(VerbsLoad.Shape shape) {
        List<VerbsWay> ways = Arrays.asList(VerbsWay.values());
        setup.out().println();
        setup.out()
                .println((shape.isSingle()
                                ? "one request at a time, mean us"
                                : shape.connections() + " connections with " + shape.window()
                                        + " outstanding, thousands of requests per second")
                        + "; READs per second beside those of the others");
        line(
                "answer",
                ways.stream().map(VerbsWay::title).toList(),
                ways.stream().skip(1).map(way -> "/ " + way.title()).toList(),
                "waited %");
    }

    private void report(long size, List<VerbsCell> cells, VerbsCell read) {
        boolean single = read.shape().isSingle();
        line(
                ByteSize.format(size),
                cells.stream()
                        .map(cell -> number(single ? cell.meanMicros() : cell.perSecond() / PER_THOUSAND))
                        .toList(),
                cells.stream()
                        .skip(1)
                        .map(cell -> number(read.rateBeside(cell)))
                        .toList(),
                number(cells.stream().mapToDouble(VerbsCell::waited).max().orElse(0)));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    /** Figures of all ways, then requests per second by READ beside those of the other ways. */
    private void line(String size, List<String> figures, List<String> ratios, String waited) {
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "%8s  %s   %s  %9s",
                        size,
                        columns(figures, "%13s"),
                        columns(ratios, "%15s"),
                        waited));
        setup.out().flush();
    }

    private static String columns(List<String> texts, String format) {
        return texts.stream()
                .map(text -> String.format(Locale.ROOT, format, text))
                .collect(Collectors.joining());
    }
}
