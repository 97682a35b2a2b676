package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.read.NativePrograms;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What requests of one kind cost the server of a software RNIC beside the C server, for each size and window: both under the same load,
 * in turns; beside the C server by io_uring, where there is one and the kernel allows it; beside the same soft RNIC of another
 * build, if one was named; and on RoCEv2 beside the soft RNIC over TCP. Belongs to the thread of the study.
 */
final class CpuRows {
    private final FloorSetup setup;
    private final FloorLoad settings;
    private final RatioLimit limit;
    private final FloorOperation operation;
    private final ObjectMapper mapper = new ObjectMapper();

    CpuRows(FloorSetup setup, FloorLoad settings, RatioLimit limit, FloorOperation operation) {
        this.setup = setup;
        this.settings = settings;
        this.limit = limit;
        this.operation = operation;
    }

    /**
     * Measures and prints them.
     *
     * @param pinning what to put before the command of a responder
     * @param cells where the results go
     */
    void run(List<String> pinning, ArrayNode cells) {
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            VerbsDevice device = setup.devices().open(Map.of("progress", "manual"));
            opened.add(device);
            ResponderProcess c =
                    ResponderProcess.yardstick(operation.yardstick(setup), pinning, settings.memoryBytes(), false);
            opened.add(c);
            List<ResponderProcess> java = soft(setup.responder(), pinning, opened);
            List<Beside> besides = besides(device, pinning, opened);
            header(device, java);
            for (long size : settings.sizes()) {
                for (int window : settings.windows()) {
                    cells.add(cell(device, new Responders(c, java, besides), size, window));
                }
            }
        } finally {
            FloorSetup.closeAll(opened);
        }
    }

    private List<Beside> besides(VerbsDevice device, List<String> pinning, List<AutoCloseable> opened) {
        List<Beside> besides = new ArrayList<>();
        if (!setup.otherBuild().isEmpty()) {
            List<ResponderProcess> other = soft(setup.otherBuild(), pinning, opened);
            besides.add(new Beside("other build", "OtherBuild", "otherBuild", device, other));
        }
        ringYardstick(pinning).ifPresent(ring -> {
            opened.add(ring);
            besides.add(new Beside("C by io_uring", "Ring", "ringYardstick", device, List.of(ring)));
        });
        FloorSetup.SoftRnic tcp = setup.overTcp();
        if (tcp != null) {
            VerbsDevice onTcp = tcp.devices().open(Map.of("progress", "manual"));
            opened.add(onTcp);
            List<ResponderProcess> soft = soft(tcp.responder(), pinning, opened);
            besides.add(new Beside("soft over TCP", "Tcp", "overTcp", onTcp, soft));
        }
        return besides;
    }

    /** The second yardstick: none if there is none for this operation, or if it does not run here, which is said. */
    private Optional<ResponderProcess> ringYardstick(List<String> pinning) {
        Optional<Supplier<NativePrograms.Responder>> program = operation.ringYardstick(setup);
        if (program.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(ResponderProcess.yardstick(program.get().get(), pinning, settings.memoryBytes(), false));
        } catch (MeasurementException e) {
            setup.out().println("skipped: the C baseline by io_uring: " + e.getMessage());
            return Optional.empty();
        }
    }

    private List<ResponderProcess> soft(List<String> command, List<String> pinning, List<AutoCloseable> opened) {
        List<String> arguments = new ArrayList<>(operation.responderArguments());
        arguments.addAll(List.of("--memory", Long.toString(settings.memoryBytes())));
        List<ResponderProcess> processes = new ArrayList<>();
        for (int i = 0; i < settings.responders(); i++) {
            processes.add(setup.startResponder(command, pinning, arguments));
            opened.add(processes.getLast());
        }
        return processes;
    }

    private void header(VerbsDevice device, List<ResponderProcess> java) {
        String name = operation.name();
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        """

                        %s
                                          server CPU us/%s             core not idle us/%s          k%ss/s           \
                        client us/%s     heap B/%s      verified  waited %%
                           size window   yard-C  soft   ratio         yard-C  soft   ratio         yard-C    soft    \
                        yard-C  soft     server client              server client\
                        """,
                        name + ": client " + device.name() + "; soft RNIC, " + java.size()
                                + " processes taking turns, beside C",
                        name,
                        name,
                        name,
                        name,
                        name));
        setup.out().flush();
    }

    private ObjectNode cell(VerbsDevice device, Responders responders, long size, int window) {
        List<AutoCloseable> loads = new ArrayList<>();
        try {
            LoadCell yardstickCell = cell(device, List.of(responders.c()), loads, size, window);
            LoadCell softCell = cell(device, responders.soft(), loads, size, window);
            List<LoadCell> beside = new ArrayList<>();
            for (Beside other : responders.besides()) {
                beside.add(cell(other.device(), other.responders(), loads, size, window));
            }
            List<LoadCell> cells = new ArrayList<>(List.of(yardstickCell, softCell));
            cells.addAll(beside);
            measure(cells, softCell);
            ObjectNode node = report(size, window, yardstickCell, softCell);
            for (int i = 0; i < beside.size(); i++) {
                Beside other = responders.besides().get(i);
                LoadCell cell = beside.get(i);
                reportBeside(other.name(), cell, softCell);
                node.put("cpuRatioOf" + other.ratio(), softCell.ratio(LoadCell.CPU, cell))
                        .put("coreRatioOf" + other.ratio(), softCell.ratio(LoadCell.CORE, cell));
                node.set(other.key(), cell.json());
            }
            return node;
        } finally {
            FloorSetup.closeAll(loads);
        }
    }

    private LoadCell cell(
            VerbsDevice device, List<ResponderProcess> responders, List<AutoCloseable> loads, long size, int window) {
        FloorOperation.Shape shape =
                new FloorOperation.Shape(settings.connections(), window, settings.widest(), size, settings.largest());
        List<LoadCell.Server> servers = new ArrayList<>();
        for (ResponderProcess responder : responders) {
            RequestLoad load = operation.connect(device, responder, shape);
            loads.add(load);
            servers.add(new LoadCell.Server(responder, load));
        }
        return new LoadCell(servers, setup.serverCore(), window, size);
    }

    private void measure(List<LoadCell> cells, LoadCell java) {
        cells.forEach(cell -> cell.warmUp(setup.warmUpNs()));
        java.startAllocation();
        for (int round = 0; round < setup.rounds(); round++) {
            // Alternating order, so that none always runs on a machine that another has just warmed or tired.
            for (LoadCell cell : round % 2 == 0 ? cells : cells.reversed()) {
                cell.round(round, setup.roundNs());
            }
        }
        java.endAllocation();
    }

    /** A line below that of the cell: what another system cost, and the soft RNIC's ratio to it. */
    private void reportBeside(String name, LoadCell other, LoadCell java) {
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "%14s  %7.2f          %5.2f        %7.2f          %5.2f        %7.1f           %7.2f",
                        name,
                        other.median(LoadCell.CPU),
                        java.ratio(LoadCell.CPU, other),
                        other.median(LoadCell.CORE),
                        java.ratio(LoadCell.CORE, other),
                        other.median(LoadCell.RATE) / 1e3,
                        other.median(LoadCell.CLIENT)));
        setup.out().flush();
    }

    private ObjectNode report(long size, int window, LoadCell c, LoadCell java) {
        double cpu = java.ratio(LoadCell.CPU, c);
        double core = java.ratio(LoadCell.CORE, c);
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "%7s %6d  %7.2f %7.2f  %5.2f        %7.2f %7.2f  %5.2f        %7.1f %7.1f   %7.2f %6.2f  "
                                + " %7.1f %6.1f %11d %6.1f %6.1f",
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
                        java.serverBytesPerRequest(),
                        java.clientBytesPerRequest(),
                        java.verified(),
                        Math.max(c.median(LoadCell.SERVER_WAIT), java.median(LoadCell.SERVER_WAIT)),
                        Math.max(c.median(LoadCell.CLIENT_WAIT), java.median(LoadCell.CLIENT_WAIT))));
        setup.out().flush();
        String what = String.format(Locale.ROOT, "%s of %s x %d", operation, ByteSize.format(size), window);
        limit.check("server CPU, " + what, cpu);
        limit.check("core, " + what, core);
        ObjectNode node = mapper.createObjectNode();
        node.put("operation", operation.label()).put("sizeBytes", size).put("window", window);
        node.put("cpuRatio", cpu).put("coreRatio", core);
        node.set("yardstick", c.json());
        node.set("soft", java.json());
        return node;
    }

    /**
     * The processes of a row.
     *
     * @param c the yardstick
     * @param soft of this build, taking turns
     * @param besides what else runs in the same rounds
     */
    private record Responders(ResponderProcess c, List<ResponderProcess> soft, List<Beside> besides) {}

    /**
     * Another system of a row.
     *
     * @param name for people
     * @param ratio ends the names of the soft RNIC's ratios to it
     * @param key of its results
     * @param device that loads it
     * @param responders its processes, taking turns
     */
    private record Beside(
            String name, String ratio, String key, VerbsDevice device, List<ResponderProcess> responders) {}
}
