package org.softrdma.bench.pinning;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.study.ReportPage;
import org.softrdma.bench.study.ReportText;

/** The results of the study of pinning as results.json and as a page with figures, one file that needs nothing else. */
final class PinningReport {
    private static final int SCHEMA = 1;
    private static final int PANEL = 260;
    private static final int TOP = 60;
    /** Room for the labels of bars. */
    private static final int BOTTOM = 70;
    /** More labels than this below an axis are slanted, by so many degrees. */
    private static final int MOST_LEVEL = 3;

    private static final int SLANT = 30;

    /**
     * One measured number.
     *
     * @param value its name in results
     * @param title for people
     * @param digits behind the point
     */
    record Metric(String value, String title, int digits) {}

    /**
     * A part of the study.
     *
     * @param name in results
     * @param title for people
     * @param text what it shows
     * @param column what {@link PinningRow#at} means
     * @param metrics what was measured
     * @param logarithmic the axis of its figures
     */
    record Part(String name, String title, String text, String column, List<Metric> metrics, boolean logarithmic) {}

    private static final List<Metric> LOAD = List.of(
            new Metric(PinningRow.GETS_PER_SECOND, "GETs/s", 0),
            new Metric(PinningRow.P50, "p50 µs", 1),
            new Metric(PinningRow.P99, "p99 µs", 1),
            new Metric(PinningRow.SERVER_CPU, "server CPU µs", 2),
            new Metric(PinningRow.EVICTIONS, "evictions/GET", 4),
            new Metric(PinningRow.UNPINNED, "unpinned/GET", 4),
            new Metric(PinningRow.ERRORS, "errors", 0));

    static final List<Part> PARTS = List.of(
            new Part(
                    RegistrationTimes.PART,
                    "Registration",
                    "Time to register and deregister memory that nothing has touched.",
                    "size",
                    List.of(
                            new Metric(PinningRow.REGISTER, "register µs", 2),
                            new Metric(PinningRow.DEREGISTER, "deregister µs", 2)),
                    true),
            new Part(
                    TouchTimes.PART,
                    "First touch",
                    "One-sided READs of 1 KiB, one at a time, each from a different granule of 256 KiB;"
                            + " rows differ in what was done to the memory before.",
                    "before",
                    List.of(new Metric(PinningRow.P50, "p50 µs", 1), new Metric(PinningRow.P99, "p99 µs", 1)),
                    true),
            new Part(
                    BudgetLoads.BUDGET,
                    "GETs under a budget",
                    "One-sided GETs from a server that may lock only this percentage of its items' memory.",
                    "keys",
                    LOAD,
                    false),
            new Part(
                    BudgetLoads.CONFINED,
                    "Items that exceed the memory",
                    "The server's control group allows less memory than its items take; the items are in a"
                            + " file on a disk.",
                    "keys",
                    LOAD,
                    false));

    private final PinningPlan plan;
    private final MachineDescription machine;
    private final String startedAt;
    private final List<PinningRow> rows;
    private final Map<String, String> skipped;
    private final ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    PinningReport(
            PinningPlan plan,
            MachineDescription machine,
            String startedAt,
            List<PinningRow> rows,
            Map<String, String> skipped) {
        this.plan = plan;
        this.machine = machine;
        this.startedAt = startedAt;
        this.rows = rows;
        this.skipped = skipped;
    }

    /** Writes results.json; where it is. */
    Path writeJson(Path directory) throws IOException {
        ObjectNode root = mapper.createObjectNode();
        root.put("schema", SCHEMA).put("study", "pinning");
        root.set("machine", mapper.valueToTree(machine));
        root.put("startedAt", startedAt).put("scenario", plan.scenario());
        root.set("plan", planTree());
        ArrayNode list = root.putArray("results");
        for (PinningRow row : rows) {
            ObjectNode node = list.addObject()
                    .put("part", row.part())
                    .put("pinning", row.system())
                    .put("at", row.at());
            row.values()
                    .all()
                    .keySet()
                    .forEach(name -> put(node, name, row.values().median(name)));
            ObjectNode rounds = node.putObject("rounds");
            row.values().all().forEach((name, values) -> {
                ArrayNode array = rounds.putArray(name);
                values.forEach(value -> array.add(Double.isFinite(value) ? value : null));
            });
        }
        ArrayNode left = root.putArray("skipped");
        skipped.forEach((what, why) -> left.addObject().put("what", what).put("reason", why));
        Path file = directory.resolve("results.json");
        mapper.writeValue(file.toFile(), root);
        return file;
    }

    /** The plan as one flat object. */
    private ObjectNode planTree() {
        ObjectNode tree = mapper.createObjectNode();
        tree.put("scenario", plan.scenario());
        tree.set("registrationBytes", mapper.valueToTree(plan.registration().bytes()));
        tree.put("mostEagerBytes", plan.registration().mostEagerBytes())
                .put("touches", plan.touches())
                .put("pairs", plan.items().pairs())
                .put("valueLength", plan.items().valueLength());
        tree.set("budgetPercents", mapper.valueToTree(plan.budgetPercents()));
        tree.put("clients", plan.load().clients())
                .put("window", plan.load().window())
                .put("confinedPairs", plan.confined().items().pairs())
                .put("confinedValueLength", plan.confined().items().valueLength())
                .put("confinedBytes", plan.confined().bytes())
                .put("warmUpNs", plan.timing().warmUpNs())
                .put("roundNs", plan.timing().roundNs())
                .put("rounds", plan.timing().rounds());
        tree.set("cores", mapper.valueToTree(plan.cores()));
        return tree;
    }

    private static void put(ObjectNode node, String name, double value) {
        if (Double.isFinite(value)) {
            node.put(name, value);
        } else {
            node.putNull(name);
        }
    }

    /** Writes the page; where it is. */
    Path writePage(Path directory) throws IOException {
        Map<String, Object> page = new LinkedHashMap<>();
        ObjectNode options = mapper.createObjectNode();
        List<Map<String, Object>> parts = new ArrayList<>();
        for (Part part : PARTS) {
            List<PinningRow> these =
                    rows.stream().filter(row -> row.part().equals(part.name())).toList();
            if (!these.isEmpty()) {
                options.set(part.name(), chart(part, these));
                parts.add(block(part, these));
            }
        }
        page.put("cpu", machine.cpuModel());
        page.put("kernel", machine.kernel());
        page.put("startedAt", startedAt);
        page.put("scenario", plan.scenario());
        page.put("rounds", plan.timing().rounds());
        page.put("parts", parts);
        page.put(
                "skipped",
                skipped.entrySet().stream()
                        .map(entry -> Map.of("what", entry.getKey(), "reason", entry.getValue()))
                        .toList());
        return ReportPage.write(directory, "What does lazy pinning cost?", "pinning.html", page, options);
    }

    private static Map<String, Object> block(Part part, List<PinningRow> these) {
        return Map.of(
                "id", part.name(),
                "title", part.title(),
                "text", part.text(),
                "column", part.column(),
                "height", TOP + PANEL,
                "heads", part.metrics().stream().map(Metric::title).toList(),
                "rows",
                        these.stream()
                                .map(row -> Map.of(
                                        "pinning",
                                        row.system(),
                                        "at",
                                        row.at(),
                                        "cells",
                                        part.metrics().stream()
                                                .map(metric -> ReportText.number(
                                                        row.values().median(metric.value()), metric.digits()))
                                                .toList()))
                                .toList());
    }

    /** The first and the third metric (or the second) side by side: a group of bars for each place, one bar for each policy. */
    private ObjectNode chart(Part part, List<PinningRow> these) {
        List<Metric> shown = List.of(
                part.metrics().getFirst(),
                part.metrics().get(Math.min(2, part.metrics().size() - 1)));
        boolean bySystem = !part.logarithmic();
        List<String> groups = these.stream()
                .map(row -> bySystem ? row.system() : row.at())
                .distinct()
                .toList();
        List<String> names = these.stream()
                .map(row -> bySystem ? row.at() : row.system())
                .distinct()
                .toList();
        ObjectNode option = mapper.createObjectNode();
        option.put("animation", false);
        option.putObject("tooltip").put("trigger", "axis");
        option.putObject("legend").set("data", mapper.valueToTree(names));
        for (int panel = 0; panel < shown.size(); panel++) {
            Metric metric = shown.get(panel);
            option.withArray("grid")
                    .addObject()
                    .put("left", panel == 0 ? "7%" : "57%")
                    .put("width", "41%")
                    .put("top", TOP)
                    .put("bottom", BOTTOM);
            ObjectNode axis = option.withArray("xAxis")
                    .addObject()
                    .put("gridIndex", panel)
                    .put("type", "category");
            axis.set("data", mapper.valueToTree(groups));
            axis.putObject("axisLabel").put("interval", 0).put("rotate", groups.size() > MOST_LEVEL ? SLANT : 0);
            option.withArray("yAxis")
                    .addObject()
                    .put("gridIndex", panel)
                    .put("type", part.logarithmic() ? "log" : "value")
                    .put("name", metric.title());
            for (String name : names) {
                ArrayNode data = option.withArray("series")
                        .addObject()
                        .put("type", "bar")
                        .put("name", name)
                        .put("xAxisIndex", panel)
                        .put("yAxisIndex", panel)
                        .putArray("data");
                for (String group : groups) {
                    these.stream()
                            .filter(row -> (bySystem ? row.at() : row.system()).equals(name)
                                    && (bySystem ? row.system() : row.at()).equals(group))
                            .map(row -> row.values().median(metric.value()))
                            .filter(Double::isFinite)
                            .findFirst()
                            .ifPresentOrElse(value -> data.add(value), data::addNull);
                }
            }
        }
        return option;
    }
}
