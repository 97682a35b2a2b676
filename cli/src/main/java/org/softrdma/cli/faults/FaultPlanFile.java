package org.softrdma.cli.faults;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.fabric.fault.FaultPlan;

/** Fault plans as JSON: {@code {"faults": [{"when": {...}, "what": {...}}]}}. Any thread. */
public final class FaultPlanFile {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    private FaultPlanFile() {}

    /**
     * Reads a plan.
     *
     * @param file where
     * @throws UserErrorException if it cannot be read, or is no plan: says what was expected, what came, and where
     */
    public static FaultPlan read(Path file) {
        try {
            return parse(file.toString(), Files.readString(file, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UserErrorException(file + ": cannot read the fault plan: " + e, e);
        }
    }

    /**
     * Reads a plan from text.
     *
     * @param name of the text, for messages
     * @param text JSON
     * @throws UserErrorException as {@link #read}
     */
    public static FaultPlan parse(String name, String text) {
        try {
            JsonNode tree = MAPPER.readTree(text);
            return RecordReader.read(tree, FaultPlan.class);
        } catch (JsonProcessingException e) {
            throw new UserErrorException(
                    name + ": line " + e.getLocation().getLineNr() + ", column "
                            + e.getLocation().getColumnNr() + ": " + e.getOriginalMessage(),
                    e);
        } catch (RecordReader.MisfitException e) {
            throw new UserErrorException(name + ": " + e.getMessage(), e);
        }
    }

    /** A plan as the text that {@link #parse} reads. */
    public static String text(FaultPlan plan) {
        try {
            return MAPPER.writeValueAsString(RecordWriter.write(plan)) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write " + plan, e);
        }
    }
}
