package org.softrdma.bench.wimpy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The results as results.json, schema 2, which docs/guide/study.md describes: warnings, medians over the rounds, their spread, and the
 * rounds themselves; null is what was not measured.
 */
final class WimpyJson {
    /** The name of the file. */
    static final String FILE = "results.json";

    private static final int SCHEMA = 2;

    private final StudyResults results;
    private final ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    WimpyJson(StudyResults results) {
        this.results = results;
    }

    /**
     * Writes the file.
     *
     * @param directory made when needed
     * @return where it is
     */
    Path write(Path directory) throws IOException {
        Files.createDirectories(directory);
        Path file = directory.resolve(FILE);
        mapper.writeValue(file.toFile(), tree());
        return file;
    }

    private ObjectNode tree() {
        ObjectNode root = mapper.createObjectNode();
        root.put("schema", SCHEMA);
        root.set("machine", mapper.valueToTree(results.machine()));
        root.put("startedAt", results.startedAt());
        root.put("scenario", results.plan().scenario());
        root.put(
                "throttling",
                results.slowing().map(StudyResults.Slowing::description).orElse(null));
        ArrayNode warnings = root.putArray("warnings");
        new WimpySummary(results)
                .warnings()
                .forEach(warning -> warnings.addObject()
                        .put("kind", warning.kind().name())
                        .put("spoilsVerdicts", warning.kind().spoilsVerdicts())
                        .put("text", warning.text()));
        ArrayNode list = root.putArray("results");
        results.rows().forEach(row -> list.add(tree(row)));
        ArrayNode left = root.putArray("skipped");
        results.skipped()
                .forEach((system, reason) ->
                        left.addObject().put("system", system).put("reason", reason));
        return root;
    }

    private ObjectNode tree(WimpyRow row) {
        ObjectNode node = mapper.createObjectNode();
        node.put("system", row.system.name());
        node.put("provider", row.system.provider());
        node.put("protocol", row.system.protocol());
        node.put("valueBytes", row.valueLength);
        node.put("clients", results.plan().clients());
        node.put("window", row.window);
        node.put("serverCores", row.serverCores);
        node.put("throttle", results.throttle(row));
        node.put("throttlePercent", row.throttlePercent);
        node.put("network", results.network(row));
        node.put("linkMegabits", row.isOverLink() ? row.linkMegabits : null);
        node.put("loop", row.isOpen() ? "open" : "closed");
        put(node, "offeredPerSecond", row.offeredPerSecond);
        for (String name : List.of(
                WimpyRow.GETS_PER_SECOND,
                WimpyRow.SERVER_CPU,
                WimpyRow.SERVER_COMPILER,
                WimpyRow.SERVER_CORE,
                WimpyRow.SERVER_USER,
                WimpyRow.SERVER_SYSTEM,
                WimpyRow.CLIENT_CPU,
                WimpyRow.P50,
                WimpyRow.P99,
                WimpyRow.P999,
                WimpyRow.ONE_SIDED,
                WimpyRow.SERVER_WAITED,
                WimpyRow.CLIENT_WAITED)) {
            put(node, name, row.median(name));
        }
        put(node, "serverCpuRatioToMemcached", results.ratio(row));
        ObjectNode spread = node.putObject("spread");
        row.rounds
                .all()
                .keySet()
                .forEach(name -> row.rounds
                        .spread(name)
                        .ifPresent(
                                each -> spread.putArray(name).add(each.least()).add(each.most())));
        ArrayNode noisy = node.putArray("tooNoisy");
        Stream.of(WimpyRow.GETS_PER_SECOND, WimpyRow.SERVER_CPU)
                .filter(row::isNoisy)
                .forEach(noisy::add);
        results.ratioToOtherBuild(row).ifPresent(ratio -> put(node, "serverCpuRatioToOtherBuild", ratio));
        ObjectNode classes = node.putObject("serverCpuMicrosPerGetByThreadClass");
        row.shares.byClass().forEach((name, value) -> put(classes, name, value));
        ObjectNode user = node.putObject("serverUserMicrosPerGetByThreadClass");
        row.shares.userByClass().forEach((name, value) -> put(user, name, value));
        if (row.profile != null) {
            ObjectNode functions = node.putObject("serverCpuPercentByFunction");
            row.profile.percents().forEach((name, value) -> put(functions, name, value));
        }
        node.put("errors", row.errors);
        rounds(node.putArray("rounds"), row);
        return node;
    }

    private void rounds(ArrayNode list, WimpyRow row) {
        Map<String, List<Double>> values = row.rounds.all();
        int count = values.values().stream().mapToInt(List::size).max().orElse(0);
        for (int i = 0; i < count; i++) {
            ObjectNode round = list.addObject();
            for (Map.Entry<String, List<Double>> entry : values.entrySet()) {
                put(round, entry.getKey(), entry.getValue().get(i));
            }
        }
    }

    private static void put(ObjectNode node, String name, double value) {
        if (Double.isFinite(value)) {
            node.put(name, value);
        } else {
            node.putNull(name);
        }
    }
}
