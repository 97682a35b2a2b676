package org.softrdma.bench.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
        // Errors beside the rows, so that nobody has to add them up.
        ObjectNode tree = MAPPER.valueToTree(results);
        tree.put("errors", results.errors());
        MAPPER.writeValue(file.toFile(), tree);
        return file;
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
            tree.remove("errors");
            return MAPPER.treeToValue(tree, CompareResults.class);
        } catch (JsonProcessingException e) {
            throw new MeasurementException(file + " is no result of compare: " + e.getOriginalMessage(), e);
        }
    }
}
