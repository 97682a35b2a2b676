package org.softrdma.bench.wimpy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.softrdma.bench.cpu.MachineDescription;

/** The results as a table for people and as results.json, schema 1. */
final class WimpyReport {
    private static final int SCHEMA = 1;
    private static final int KIB = 1024;
    private static final String BASELINE_PROTOCOL = GetCommand.META.label();

    private final WimpyPlan plan;
    private final MachineDescription machine;
    private final List<WimpyRow> rows;
    private final Map<String, String> skipped;
    private final String throttle;
    private final ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /**
     * A report.
     *
     * @param plan what was measured
     * @param machine on what
     * @param rows the results
     * @param skipped systems that were left out, with the reason
     * @param throttle how the server's core was slowed down, for people
     */
    WimpyReport(
            WimpyPlan plan,
            MachineDescription machine,
            List<WimpyRow> rows,
            Map<String, String> skipped,
            String throttle) {
        this.plan = plan;
        this.machine = machine;
        this.rows = List.copyOf(rows);
        this.skipped = Map.copyOf(skipped);
        this.throttle = throttle;
    }

    void print(PrintWriter out) {
        out.println();
        out.printf(
                Locale.ROOT,
                "GETs over loopback by %d connections of one load process; medians of %d interleaved rounds of %d"
                        + " ms.%n",
                plan.clients(),
                plan.rounds(),
                plan.millis());
        out.println("Server CPU: of its process, and all time its core was not idle; / mg = beside memcached mg, same"
                + " row.");
        for (int valueLength : plan.valueLengths()) {
            for (int window : plan.windows()) {
                printBlock(out, valueLength, window);
            }
        }
        skipped.forEach((system, reason) -> out.println("skipped: " + system + ": " + reason));
        out.flush();
    }

    private void printBlock(PrintWriter out, int valueLength, int window) {
        List<WimpyRow> block = rows.stream()
                .filter(row -> row.valueLength == valueLength && row.window == window)
                .toList();
        Optional<WimpyRow> baseline = block.stream()
                .filter(row -> row.system.protocol().equals(BASELINE_PROTOCOL))
                .findFirst();
        out.println();
        out.printf(
                Locale.ROOT,
                "%-28s %10s %10s %10s %7s %10s %9s %9s %9s%n",
                size(valueLength) + ", window " + window,
                "GETs/s",
                "server us",
                "core us",
                "/ mg",
                "client us",
                "p50 us",
                "p99 us",
                "one-sided");
        for (WimpyRow row : block) {
            String ratio = baseline.map(base -> row.median(WimpyRow.SERVER_CPU) / base.median(WimpyRow.SERVER_CPU))
                    .map(value -> number(value, 2))
                    .orElse("-");
            out.printf(
                    Locale.ROOT,
                    "%-28s %10s %10s %10s %7s %10s %9s %9s %9s%s%n",
                    row.system.label(),
                    number(row.median(WimpyRow.GETS_PER_SECOND), 0),
                    number(row.median(WimpyRow.SERVER_CPU), 2),
                    number(row.median(WimpyRow.SERVER_CORE), 2),
                    ratio,
                    number(row.median(WimpyRow.CLIENT_CPU), 2),
                    number(row.median(WimpyRow.P50), 1),
                    number(row.median(WimpyRow.P99), 1),
                    number(row.median(WimpyRow.ONE_SIDED), 3),
                    row.errors == 0 ? "" : "  ERRORS: " + row.errors);
        }
    }

    private static String number(double value, int digits) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%." + digits + "f", value);
    }

    private static String size(int bytes) {
        return bytes % KIB == 0 ? bytes / KIB + " KiB" : bytes + " B";
    }

    /** Writes results.json; its path. */
    Path write(Path directory) throws IOException {
        ObjectNode results = mapper.createObjectNode();
        results.put("schema", SCHEMA);
        results.set("machine", mapper.valueToTree(machine));
        results.put("scenario", plan.scenario());
        ArrayNode list = results.putArray("results");
        rows.forEach(row -> list.add(json(row)));
        ArrayNode left = results.putArray("skipped");
        skipped.forEach(
                (system, reason) -> left.addObject().put("system", system).put("reason", reason));
        Files.createDirectories(directory);
        Path file = directory.resolve("results.json");
        mapper.writeValue(file.toFile(), results);
        return file;
    }

    private ObjectNode json(WimpyRow row) {
        ObjectNode node = mapper.createObjectNode();
        node.put("system", row.system.name());
        node.put("provider", row.system.provider());
        node.put("protocol", row.system.protocol());
        node.put("valueBytes", row.valueLength);
        node.put("clients", plan.clients());
        node.put("window", row.window);
        node.put("serverCores", 1);
        node.put("throttle", throttle);
        node.put("network", "loopback");
        for (String name : List.of(
                WimpyRow.GETS_PER_SECOND,
                WimpyRow.SERVER_CPU,
                WimpyRow.SERVER_CORE,
                WimpyRow.CLIENT_CPU,
                WimpyRow.P50,
                WimpyRow.P99,
                WimpyRow.P999,
                WimpyRow.ONE_SIDED)) {
            put(node, name, row.median(name));
        }
        ObjectNode classes = node.putObject("serverCpuMicrosPerGetByThreadClass");
        row.serverCpuByClass.all().keySet().forEach(name -> put(classes, name, row.serverCpuByClass.median(name)));
        node.put("errors", row.errors);
        ArrayNode rounds = node.putArray("rounds");
        Map<String, List<Double>> values = row.rounds.all();
        for (int i = 0; i < plan.rounds(); i++) {
            ObjectNode round = rounds.addObject();
            for (Map.Entry<String, List<Double>> entry : values.entrySet()) {
                put(round, entry.getKey(), entry.getValue().get(i));
            }
        }
        return node;
    }

    private static void put(ObjectNode node, String name, double value) {
        if (Double.isNaN(value)) {
            node.putNull(name);
        } else {
            node.put(name, value);
        }
    }
}
