package org.softrdma.bench.perf;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.softrdma.bench.cpu.MedianOfRounds;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What a READ costs the server of a software RNIC beside the cheapest C server for the same bytes, and how long it takes
 * beside a plain TCP ping-pong: proof or disproof that the RNIC is at the floor of TCP. One client process loads both in
 * turns. Runs on the calling thread; the responders are child processes.
 */
public final class FloorStudy {
    private static final long MIN_WARM_UP_MILLIS = 3000;

    private final StudySetup setup;
    private final Load settings;
    private final ObjectMapper mapper = new ObjectMapper();
    private final List<String> aboveLimit = new ArrayList<>();

    /**
     * A study.
     *
     * @param setup where and how long
     * @param settings what is measured
     */
    public FloorStudy(StudySetup setup, Load settings) {
        this.setup = setup;
        this.settings = settings;
        int cells = settings.sizes().size() * settings.windows().size();
        if ((long) cells * setup.warmUpMillis() < MIN_WARM_UP_MILLIS) {
            throw new IllegalArgumentException("warm-up of " + setup.warmUpMillis() + " ms in " + cells
                    + " cells: a JIT needs at least " + MIN_WARM_UP_MILLIS + " ms in all");
        }
    }

    /**
     * What is measured.
     *
     * @param sizes bytes of a READ
     * @param windows READs outstanding per connection
     * @param connections connections
     * @param memoryBytes bytes of the memory that is read
     * @param responders processes of the soft RNIC that take turns
     * @param latency also measure single round trips
     * @param limit the ratio that must not be exceeded
     */
    public record Load(
            List<Long> sizes,
            List<Integer> windows,
            int connections,
            long memoryBytes,
            int responders,
            boolean latency,
            double limit) {
        /** Copies the lists and checks the numbers. */
        public Load {
            sizes = List.copyOf(sizes);
            windows = List.copyOf(windows);
            if (sizes.isEmpty()
                    || windows.isEmpty()
                    || connections < 1
                    || responders < 1
                    || sizes.stream().anyMatch(size -> size < 1 || size > memoryBytes)
                    || windows.stream().anyMatch(window -> window < 1)) {
                throw new IllegalArgumentException(
                        "sizes=" + sizes + ", windows=" + windows + ", connections=" + connections
                                + ": expected at least one of each, sizes not beyond the memory of " + memoryBytes);
            }
        }

        long largest() {
            return sizes.stream().mapToLong(Long::longValue).max().orElseThrow();
        }

        int widest() {
            return windows.stream().mapToInt(Integer::intValue).max().orElseThrow();
        }
    }

    /**
     * Runs the study and prints its tables.
     *
     * @return the results
     */
    public ObjectNode run() {
        setup.describe("perf floor: " + settings.connections() + " connections to " + settings.memoryBytes()
                + " bytes of memory, random reads, one in " + ReadLoad.VERIFY_INTERVAL + " verified byte by byte");
        List<String> serverPinning = setup.pin();
        ObjectNode root = mapper.createObjectNode();
        root.put("schema", 1).put("study", "floor");
        root.set("machine", mapper.valueToTree(setup.machine()));
        root.put("connections", settings.connections())
                .put("memoryBytes", settings.memoryBytes())
                .put("responders", settings.responders())
                .put("rounds", setup.rounds())
                .put("millis", setup.millis())
                .put("warmUpMillis", setup.warmUpMillis())
                .put("limit", settings.limit());
        root.set("cells", throughput(serverPinning));
        if (settings.latency()) {
            root.set("latency", latency(serverPinning));
        }
        ArrayNode above = root.putArray("aboveLimit");
        aboveLimit.forEach(above::add);
        setup.out()
                .println(
                        aboveLimit.isEmpty()
                                ? "every ratio is within " + settings.limit()
                                : "above " + settings.limit() + ": " + String.join("; ", aboveLimit));
        setup.out().flush();
        return root;
    }

    /** What exceeded the limit. */
    public List<String> aboveLimit() {
        return List.copyOf(aboveLimit);
    }

    // ---------------------------------------------------------------------------------------------------- throughput

    private ArrayNode throughput(List<String> pinning) {
        ArrayNode cells = mapper.createArrayNode();
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            VerbsDevice device = setup.devices().open(Map.of("progress", "manual"));
            opened.add(device);
            List<LoadCell.Server> c = List.of(
                    connect(device, opened, yardstick(pinning, false), settings.connections(), settings.widest()));
            List<LoadCell.Server> java = new ArrayList<>();
            for (int i = 0; i < settings.responders(); i++) {
                java.add(connect(device, opened, soft(pinning, "engine"), settings.connections(), settings.widest()));
            }
            setup.out()
                    .println("client: " + device.name() + "; soft RNIC: "
                            + java.getFirst().load().wire() + ", " + java.size() + " processes in turns");
            header();
            for (long size : settings.sizes()) {
                c.forEach(server -> aim(server, size));
                java.forEach(server -> aim(server, size));
                for (int window : settings.windows()) {
                    LoadCell yardstickCell = new LoadCell(c, setup.serverCore(), window, size);
                    LoadCell softCell = new LoadCell(java, setup.serverCore(), window, size);
                    measure(yardstickCell, softCell);
                    cells.add(report(size, window, yardstickCell, softCell));
                }
            }
        } finally {
            StudySetup.closeAll(opened);
        }
        return cells;
    }

    private ResponderProcess yardstick(List<String> pinning, boolean spin) {
        return ResponderProcess.yardstick(setup.programs().readResponder(), pinning, settings.memoryBytes(), spin);
    }

    private ResponderProcess soft(List<String> pinning, String progress) {
        return ResponderProcess.soft(
                setup.responder(),
                pinning,
                List.of("--progress", progress, "--memory", Long.toString(settings.memoryBytes())));
    }

    /** Connects to a responder and notes both to be closed, the load first. */
    private LoadCell.Server connect(
            VerbsDevice device, List<AutoCloseable> opened, ResponderProcess responder, int connections, int window) {
        opened.add(responder);
        ReadLoad load = ReadLoad.connect(
                device,
                responder.address(),
                connections,
                window,
                settings.largest(),
                targets(responder, settings.largest()));
        opened.add(load);
        return new LoadCell.Server(responder, load);
    }

    private static ReadTargets targets(ResponderProcess responder, long size) {
        return ReadTargets.ofRegion(
                responder.memory().address(),
                responder.memory().length(),
                responder.memory().rkey(),
                size);
    }

    private static ReadTargets onePlace(ResponderProcess responder, long size) {
        return ReadTargets.ofRegion(
                responder.memory().address(), size, responder.memory().rkey(), size);
    }

    private static void aim(LoadCell.Server server, long size) {
        server.load().targets(targets(server.responder(), size));
    }

    private void measure(LoadCell c, LoadCell java) {
        c.warmUp(setup.warmUpNs());
        java.warmUp(setup.warmUpNs());
        java.startAllocation();
        for (int round = 0; round < setup.rounds(); round++) {
            // Alternating order, so that neither always runs on a machine the other has just warmed or tired.
            (round % 2 == 0 ? c : java).round(round, setup.roundNs());
            (round % 2 == 0 ? java : c).round(round, setup.roundNs());
        }
        java.endAllocation();
    }

    private void header() {
        setup.out().println("""

                                  server CPU us/READ            core not idle us/READ         kREADs/s          \
                client us/READ    heap B/READ     verified  waited %
                   size window   yard-C  soft   ratio         yard-C  soft   ratio         yard-C    soft    \
                yard-C  soft     server client              server client""");
    }

    private ObjectNode report(long size, int window, LoadCell c, LoadCell java) {
        double cpu = java.ratio(LoadCell.CPU, c);
        double core = java.ratio(LoadCell.CORE, c);
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "%7s %6d  %7.2f %7.2f  %5.2f        %7.2f %7.2f  %5.2f        %7.1f %7.1f   %7.2f %6.2f   %7.1f %6.1f %11d %6.1f %6.1f",
                        ByteSize.format(size),
                        window,
                        c.median(LoadCell.CPU),
                        java.median(LoadCell.CPU),
                        cpu,
                        c.median(LoadCell.CORE),
                        java.median(LoadCell.CORE),
                        core,
                        c.median(LoadCell.RATE) / 1e3,
                        java.median(LoadCell.RATE) / 1e3,
                        c.median(LoadCell.CLIENT),
                        java.median(LoadCell.CLIENT),
                        java.serverBytesPerRead(),
                        java.clientBytesPerRead(),
                        java.verified(),
                        Math.max(c.median(LoadCell.SERVER_WAIT), java.median(LoadCell.SERVER_WAIT)),
                        Math.max(c.median(LoadCell.CLIENT_WAIT), java.median(LoadCell.CLIENT_WAIT))));
        setup.out().flush();
        check(String.format(Locale.ROOT, "server CPU of %s x %d", ByteSize.format(size), window), cpu);
        check(String.format(Locale.ROOT, "core of %s x %d", ByteSize.format(size), window), core);
        ObjectNode node = mapper.createObjectNode();
        node.put("sizeBytes", size).put("window", window).put("cpuRatio", cpu).put("coreRatio", core);
        node.set("yardstick", json(c));
        node.set("soft", json(java));
        return node;
    }

    static ObjectNode json(LoadCell cell) {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode node = mapper.createObjectNode();
        node.put(LoadCell.CPU, cell.median(LoadCell.CPU))
                .put(LoadCell.CORE, cell.median(LoadCell.CORE))
                .put(LoadCell.RATE, cell.median(LoadCell.RATE))
                .put(LoadCell.CLIENT, cell.median(LoadCell.CLIENT))
                .put(LoadCell.SERVER_WAIT, cell.median(LoadCell.SERVER_WAIT))
                .put(LoadCell.CLIENT_WAIT, cell.median(LoadCell.CLIENT_WAIT))
                .put("serverHeapBytesPerRead", cell.serverBytesPerRead())
                .put("clientHeapBytesPerRead", cell.clientBytesPerRead())
                .put("verified", cell.verified());
        node.set("serverCpuMicrosByThreadClass", mapper.valueToTree(cell.classesMicros()));
        node.set("rounds", mapper.valueToTree(cell.rounds().all()));
        return node;
    }

    private void check(String what, double ratio) {
        if (!(ratio <= settings.limit())) {
            aboveLimit.add(String.format(Locale.ROOT, "%s %.2f", what, ratio));
        }
    }

    // ------------------------------------------------------------------------------------------------------- latency

    private ArrayNode latency(List<String> pinning) {
        setup.out().println("""

                round trip of one READ at a time, us     C ping-pong       soft RNIC, Java      Java client,
                                                         C to C, TCP       both ends            C responder
                  mode     size                          p50     p99       p50     p99   ratio    p50""");
        ArrayNode rows = mapper.createArrayNode();
        latency(rows, pinning, true);
        latency(rows, pinning, false);
        return rows;
    }

    private void latency(ArrayNode rows, List<String> pinning, boolean spin) {
        List<String> clientPinning = Pinning.detect().prefix(setup.clientCpu());
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            VerbsDevice device = setup.devices().open(Map.of("progress", "manual"));
            opened.add(device);
            LoadCell.Server c = connect(device, opened, yardstick(pinning, spin), 1, 1);
            if (spin) {
                // All that spin share a core: each runs in its own rounds only.
                c.responder().suspend();
            }
            LoadCell.Server java = connect(device, opened, soft(pinning, spin ? "manual" : "engine"), 1, 1);
            if (spin) {
                java.responder().suspend();
            }
            for (long size : settings.sizes()) {
                // The ping-pong answers with the same bytes each time: so do the others, from one place in their
                // memory.
                c.load().targets(onePlace(c.responder(), size));
                java.load().targets(onePlace(java.responder(), size));
                try (LatencyCell plain =
                                new LatencyCell.OfPingPong(setup.programs(), pinning, clientPinning, size, spin);
                        LatencyCell soft = new LatencyCell.OfReads(java, size, spin);
                        LatencyCell mixed = new LatencyCell.OfReads(c, size, spin)) {
                    measure(List.of(plain, soft, mixed));
                    rows.add(report(size, spin, plain, soft, mixed));
                }
            }
        } finally {
            StudySetup.closeAll(opened);
        }
    }

    private void measure(List<LatencyCell> cells) {
        cells.forEach(cell -> cell.round(setup.warmUpNs(), false));
        for (int round = 0; round < setup.rounds(); round++) {
            List<LatencyCell> order = round % 2 == 0 ? cells : cells.reversed();
            order.forEach(cell -> cell.round(setup.roundNs(), true));
        }
    }

    private ObjectNode report(long size, boolean spin, LatencyCell plain, LatencyCell java, LatencyCell mixed) {
        MedianOfRounds both = new MedianOfRounds();
        plain.rounds().values(LatencyCell.MEDIAN).forEach(value -> both.add("plain", value));
        java.rounds().values(LatencyCell.MEDIAN).forEach(value -> both.add("soft", value));
        double ratio = both.medianRatio("soft", "plain");
        String mode = spin ? "spin" : "block";
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "%6s  %7s                      %7.2f %7.2f   %7.2f %7.2f   %5.2f %7.2f",
                        mode,
                        ByteSize.format(size),
                        plain.rounds().median(LatencyCell.MEDIAN),
                        plain.rounds().median(LatencyCell.TAIL),
                        java.rounds().median(LatencyCell.MEDIAN),
                        java.rounds().median(LatencyCell.TAIL),
                        ratio,
                        mixed.rounds().median(LatencyCell.MEDIAN)));
        setup.out().flush();
        check("latency of " + ByteSize.format(size) + ", " + mode, ratio);
        ObjectNode node = mapper.createObjectNode();
        node.put("mode", mode).put("sizeBytes", size).put("ratio", ratio);
        node.set("pingPong", json(plain));
        node.set("soft", json(java));
        node.set("javaClientOfYardstick", json(mixed));
        return node;
    }

    private ObjectNode json(LatencyCell cell) {
        ObjectNode node = mapper.createObjectNode();
        node.put(LatencyCell.MEDIAN, cell.rounds().median(LatencyCell.MEDIAN))
                .put(LatencyCell.TAIL, cell.rounds().median(LatencyCell.TAIL));
        node.set("rounds", mapper.valueToTree(cell.rounds().all()));
        return node;
    }
}
