package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.perftest.PerfClient;
import org.softrdma.bench.perftest.PerfOptions;
import org.softrdma.bench.perftest.PerfRow;
import org.softrdma.bench.perftest.PerfTable;
import org.softrdma.bench.perftest.PerfTest;
import org.softrdma.bench.read.NativePrograms;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Large READs of one connection in both directions at once, a core for each end, beside a C program that does the same. Belongs to
 * the thread of the study.
 */
final class BothWaysRows {
    private static final long SIZE = 64 << 10;
    private static final List<Integer> WINDOWS = List.of(1, 16);
    private static final long START_SECONDS = 20;
    private static final long C_ROUND_SECONDS = 60;
    private static final int SHORT_WARM_UP_MILLIS = 200;
    private static final double PER_MILLION = 1e6;
    private static final String C = "c";
    private static final String ENGINE = "engine";
    private static final String MANUAL = "manual";

    private final FloorSetup setup;
    private final ObjectMapper mapper = new ObjectMapper();

    BothWaysRows(FloorSetup setup) {
        this.setup = setup;
    }

    /**
     * Measures and prints them.
     *
     * @param pinning what to put before the command of a server
     */
    ArrayNode run(List<String> pinning) {
        setup.out().println("""

            READs of 64 KiB in both directions of one connection, thousands per second and direction
                     window    C to C    soft RNIC, engine  ratio    soft RNIC, manual  ratio\
            """);
        ArrayNode rows = mapper.createArrayNode();
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            End engine = new End(ENGINE, pinning, opened);
            End manual = new End(MANUAL, pinning, opened);
            for (int window : WINDOWS) {
                rows.add(row(pinning, engine, manual, window));
            }
        } finally {
            FloorSetup.closeAll(opened);
        }
        return rows;
    }

    private ObjectNode row(List<String> pinning, End engine, End manual, int window) {
        MedianOfRounds rounds = new MedianOfRounds();
        try (Child server = start(exchange(pinning, "server", window))) {
            String port = server.await("LISTENING", START_SECONDS);
            engine.exchange(window, setup.warmUpMillis());
            manual.exchange(window, setup.warmUpMillis());
            for (int round = 0; round < setup.rounds(); round++) {
                rounds.add(C, exchangeInC(window, port));
                rounds.add(ENGINE, engine.exchange(window, SHORT_WARM_UP_MILLIS));
                rounds.add(MANUAL, manual.exchange(window, SHORT_WARM_UP_MILLIS));
            }
        }
        return report(window, rounds);
    }

    // ---- in C

    private List<String> exchange(List<String> pinning, String end, int window) {
        List<String> command = new ArrayList<>(pinning);
        command.addAll(List.of(
                setup.programs().readExchange().toString(),
                end,
                "--size",
                Long.toString(SIZE),
                "--window",
                Integer.toString(window)));
        return command;
    }

    /** READs per second and direction. */
    private double exchangeInC(int window, String port) {
        List<String> command = exchange(Pinning.detect().prefix(setup.clientCpu()), "client", window);
        command.addAll(List.of("--port", port, "--millis", Integer.toString(setup.millis())));
        JsonNode result = NativePrograms.run("the C exchange of READs", command, C_ROUND_SECONDS);
        return (result.get("readsPerSecond").asDouble()
                        + result.get("servedPerSecond").asDouble())
                / 2;
    }

    private static Child start(List<String> command) {
        try {
            return Child.start(String.join(" ", command), command);
        } catch (IOException e) {
            throw new MeasurementException(String.valueOf(e.getMessage()), e);
        }
    }

    // ---- the soft RNIC

    /** Both ends of the soft RNIC: a server in a process of its own, and a device of this process. */
    private final class End {
        private final VerbsDevice device;
        private final InetSocketAddress server;

        End(String progress, List<String> pinning, List<AutoCloseable> opened) {
            device = setup.devices().open(Map.of("progress", progress));
            opened.add(device);
            List<String> command = new ArrayList<>(pinning);
            command.addAll(setup.reader());
            command.addAll(List.of("-p", "0", "--run-infinitely", "--progress", progress));
            Child child = start(command);
            opened.add(child);
            String port = child.await("listening", START_SECONDS).replaceFirst("on .*:([0-9]+),.*", "$1");
            server = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
        }

        /** READs per second and direction. An engine has the core of the thread that waits, so that thread sleeps. */
        double exchange(int window, int warmUpMillis) {
            PerfOptions options = new PerfOptions(
                    PerfTest.READ_BANDWIDTH,
                    List.of(SIZE),
                    PerfOptions.MIN_ITERATIONS,
                    Math.max(1, (int) TimeUnit.MILLISECONDS.toSeconds(setup.millis())),
                    1,
                    window,
                    window,
                    0,
                    !device.manualProgress(),
                    1,
                    warmUpMillis,
                    true);
            PerfTable nowhere = new PerfTable(new PrintWriter(Writer.nullWriter()), options, false, false, false);
            PerfRow row = PerfClient.run(
                            device,
                            () -> {
                                throw new IllegalStateException("one initiator needs one device");
                            },
                            options,
                            nowhere,
                            server)
                    .getFirst();
            return row.value("MsgRate") * PER_MILLION / 2;
        }
    }

    private ObjectNode report(int window, MedianOfRounds rounds) {
        double engine = rounds.medianRatio(ENGINE, C);
        double manual = rounds.medianRatio(MANUAL, C);
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "         %6d  %8.1f             %8.1f  %5.2f             %8.1f  %5.2f",
                        window,
                        rounds.median(C) / 1e3,
                        rounds.median(ENGINE) / 1e3,
                        engine,
                        rounds.median(MANUAL) / 1e3,
                        manual));
        setup.out().flush();
        ObjectNode node = mapper.createObjectNode();
        node.put("sizeBytes", SIZE)
                .put("window", window)
                .put("readsPerSecondOfC", rounds.median(C))
                .put("readsPerSecondOfEngine", rounds.median(ENGINE))
                .put("readsPerSecondOfManual", rounds.median(MANUAL))
                .put("engineRatio", engine)
                .put("manualRatio", manual);
        node.set("rounds", mapper.valueToTree(rounds.all()));
        return node;
    }
}
