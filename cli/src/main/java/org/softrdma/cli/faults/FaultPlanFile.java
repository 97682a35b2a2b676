package org.softrdma.cli.faults;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.Function;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;

/** Fault plans as JSON, for the fabric and for {@code softrdma run}: {@code {"faults": [{"when": {...}, "what": {...}}]}}. Any thread. */
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
        return read(file, fault -> {});
    }

    /**
     * Reads a plan for something that cannot have all faults.
     *
     * @param file where
     * @param check throws IllegalArgumentException for a fault that is not possible there
     * @throws UserErrorException as {@link #read(Path)}
     */
    public static FaultPlan read(Path file, Consumer<Fault> check) {
        try {
            return parse(file.toString(), Files.readString(file, StandardCharsets.UTF_8), check);
        } catch (IOException e) {
            throw new UserErrorException(file + ": cannot read the fault plan: " + e, e);
        }
    }

    /**
     * Reads a plan from text.
     *
     * @param name of the text, for messages
     * @param text JSON
     * @param check as for {@link #read(Path, Consumer)}
     * @throws UserErrorException as {@link #read(Path)}
     */
    static FaultPlan parse(String name, String text, Consumer<Fault> check) {
        return parsed(name, text, tree -> {
            FaultPlan plan = RecordReader.read(tree, FaultPlan.class);
            for (int i = 0; i < plan.faults().size(); i++) {
                RecordReader.check(plan.faults().get(i), check, "faults[" + i + "]");
            }
            return plan;
        });
    }

    /**
     * Reads one fault, as a plan has it.
     *
     * @param name of the text, for messages
     * @param text JSON
     * @param check as for {@link #read(Path, Consumer)}
     * @throws UserErrorException as {@link #read(Path)}
     */
    public static Fault fault(String name, String text, Consumer<Fault> check) {
        return parsed(name, text, tree -> {
            Fault fault = RecordReader.read(tree, Fault.class);
            RecordReader.check(fault, check, "");
            return fault;
        });
    }

    private static <T> T parsed(String name, String text, Function<JsonNode, T> reader) {
        try {
            return reader.apply(MAPPER.readTree(text));
        } catch (JsonProcessingException e) {
            throw new UserErrorException(
                    name + ": line " + e.getLocation().getLineNr() + ", column "
                            + e.getLocation().getColumnNr() + ": " + e.getOriginalMessage(),
                    e);
        } catch (RecordReader.MisfitException e) {
            throw new UserErrorException(name + ": line " + line(text, e.where()) + ": " + e.getMessage(), e);
        }
    }

    /** The line where something begins that a tree has at a place, such as {@code faults[2].when.ns}; what is not there is in line 1. */
    private static int line(String text, String where) {
        String pointer =
                where.isEmpty() ? "" : "/" + where.replaceAll("[.\\[]", "/").replace("]", "");
        try (JsonParser parser = MAPPER.createParser(text)) {
            while (parser.nextToken() != null) {
                if (parser.getParsingContext().pathAsPointer().toString().equals(pointer)) {
                    return parser.currentTokenLocation().getLineNr();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("text that was read before", e);
        }
        return 1;
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
