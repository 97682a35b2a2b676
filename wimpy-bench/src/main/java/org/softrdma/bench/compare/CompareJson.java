package org.softrdma.bench.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.softrdma.bench.measurement.MeasurementException;

/** Writes and reads results.json. */
public final class CompareJson {
    /** The name of the file. */
    static final String FILE = "results.json";

    private static final ObjectMapper MAPPER = new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES);

    private CompareJson() {}

    /**
     * Writes results.
     *
     * @param results what was found
     * @param directory made when needed
     * @return where the file is
     */
    public static Path write(CompareResults results, Path directory) throws IOException {
        Files.createDirectories(directory);
        Path file = directory.resolve(FILE);
        ObjectNode tree = MAPPER.valueToTree(results);
        // Beside the rows, so that nobody has to add up errors, or find out what spoils a run.
        tree.put("errors", results.errors());
        ArrayNode warnings = tree.putArray("warnings");
        new CompareSummary(results)
                .warnings()
                .forEach(warning -> warnings.addObject()
                        .put("kind", warning.kind().name())
                        .put("spoilsVerdicts", warning.kind().spoilsVerdicts())
                        .put("text", warning.text()));
        for (int i = 0; i < results.rows().size(); i++) {
            spread((ObjectNode) tree.path("rows").get(i), results.rows().get(i));
        }
        MAPPER.writeValue(file.toFile(), tree);
        return file;
    }

    private static void spread(ObjectNode node, CompareRow row) {
        ObjectNode spread = node.putObject("spread");
        row.values()
                .keySet()
                .forEach(name -> row.spread(name)
                        .ifPresent(
                                each -> spread.putArray(name).add(each.least()).add(each.most())));
    }

    /**
     * Reads results.
     *
     * @param file that {@link #write} wrote
     * @throws MeasurementException with one sentence if it is something else
     */
    public static CompareResults read(Path file) throws IOException {
        try {
            ObjectNode tree = MAPPER.readValue(file.toFile(), ObjectNode.class);
            String study = tree.path("study").asText();
            int schema = tree.path("schema").asInt();
            if (!study.equals(CompareResults.STUDY) || schema != CompareResults.SCHEMA) {
                throw new MeasurementException(file + ": study=" + study + ", schema=" + schema + ": expected study="
                        + CompareResults.STUDY + ", schema=" + CompareResults.SCHEMA);
            }
            // What follows from the rest.
            tree.remove(List.of("errors", "warnings"));
            tree.path("rows").forEach(row -> ((ObjectNode) row).remove("spread"));
            return MAPPER.treeToValue(tree, CompareResults.class);
        } catch (JsonProcessingException e) {
            throw new MeasurementException(
                    file + " was not written by `softrdma compare`: " + e.getOriginalMessage(), e);
        }
    }
}
