package org.softrdma.bench.papers;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.softrdma.bench.compare.CompareJson;
import org.softrdma.bench.compare.CompareReport;
import org.softrdma.bench.compare.CompareResults;
import org.softrdma.bench.measurement.MeasurementException;

/**
 * What the ledger is judged from.
 *
 * @param compare results of {@code softrdma compare}; empty if there are none
 * @param counts results of {@code softrdma compare --fabric}; empty if there are none
 * @param wimpy rows of results of {@code softrdma wimpy}; empty if there are none
 * @param wimpySpoilt why nothing can be judged by these; empty if something can
 * @param floor cells of results of {@code softrdma perf floor}; empty if there are none
 * @param verbs cells of results of {@code softrdma perf verbs}; empty if there are none
 * @param farm rows of results of {@code softrdma farm tao}; empty if there are none
 */
public record LedgerSources(
        Optional<CompareResults> compare,
        Optional<CompareResults> counts,
        List<JsonNode> wimpy,
        List<String> wimpySpoilt,
        List<JsonNode> floor,
        List<JsonNode> verbs,
        List<JsonNode> farm) {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Copies the lists. */
    public LedgerSources {
        wimpy = List.copyOf(wimpy);
        wimpySpoilt = List.copyOf(wimpySpoilt);
        floor = List.copyOf(floor);
        verbs = List.copyOf(verbs);
        farm = List.copyOf(farm);
    }

    /** Whose results an entry is judged by. */
    enum Source {
        /** {@code compare}. */
        COMPARE("there is no results.json of compare: run ./softrdma compare"),
        /** {@code compare --fabric}. */
        COUNTS("there is no results.json of compare --fabric: run ./softrdma compare --fabric --skew 0 --mixes C"
                + " --pairs 24576 --nodes 3,10 --out compare-counts"),
        /** {@code wimpy}. */
        WIMPY("there is no results.json of wimpy: run ./softrdma wimpy --full"),
        /** {@code perf floor}, which compares sides that take turns, and warns of nothing. */
        FLOOR("there are no results of perf floor: run ./softrdma perf floor --operations read,write"
                + " --sizes 32 --json perf-floor.json"),
        /** {@code perf verbs}, which does the same. */
        VERBS("there are no results of perf verbs: run ./softrdma perf verbs --json perf-verbs.json"),
        /** {@code farm tao}, whose rows are of one run. */
        FARM("there are no results of farm tao: run ./softrdma farm tao --local --json farm-tao.json");

        private final String missing;

        Source(String missing) {
            this.missing = missing;
        }

        /** Why nothing can be said without them. */
        String missing() {
            return missing;
        }
    }

    /** Results of a comparison. */
    Optional<CompareResults> comparison(Source source) {
        return source == Source.COMPARE ? compare : counts;
    }

    /** Rows of results, those of a comparison with its conditions; empty if there are none. */
    Optional<Rows> rows(Source source) {
        return switch (source) {
            case COMPARE, COUNTS -> comparison(source).map(LedgerSources::rows);
            case WIMPY -> rows(wimpy);
            case FLOOR -> rows(floor);
            case VERBS -> rows(verbs);
            case FARM -> rows(farm);
        };
    }

    private static Optional<Rows> rows(List<JsonNode> list) {
        return Optional.of(new Rows(list)).filter(rows -> !rows.all().isEmpty());
    }

    private static Rows rows(CompareResults results) {
        JsonNode conditions = MAPPER.valueToTree(results.conditions());
        return new Rows(results.rows().stream()
                .map(row -> MAPPER.<ObjectNode>valueToTree(row).<JsonNode>set("conditions", conditions))
                .toList());
    }

    /** Why nothing can be judged by some results: what they warn of themselves; empty if something can. */
    List<String> spoilt(Source source) {
        return switch (source) {
            case COMPARE -> compare.map(CompareReport::spoilt).orElse(List.of());
            case COUNTS -> counts.map(CompareReport::spoilt).orElse(List.of());
            case WIMPY -> wimpySpoilt;
            case FLOOR, VERBS, FARM -> List.of();
        };
    }

    /**
     * Reads what is there.
     *
     * @param compare results.json of a comparison
     * @param counts results.json of a comparison on the fabric
     * @param wimpy results.json of the Wimpy study
     * @param floor what {@code perf floor --json} has written
     * @param verbs what {@code perf verbs --json} has written
     * @param farm what {@code farm tao --json} has written
     * @throws MeasurementException if a file is there and is something else, or if something went wrong in it
     */
    public static LedgerSources read(Path compare, Path counts, Path wimpy, Path floor, Path verbs, Path farm)
            throws IOException {
        return new LedgerSources(
                comparison(compare, false),
                comparison(counts, true),
                rows(wimpy, "wimpy", "results", "getsPerSecond"),
                spoiltWimpy(wimpy),
                rows(floor, "perf floor", "cells", "operation"),
                rows(verbs, "perf verbs", "cells", "way"),
                rows(farm, "farm tao", "rows", "readsPerRead"));
    }

    private static Optional<CompareResults> comparison(Path file, boolean onFabric) throws IOException {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        CompareResults results = CompareJson.read(file);
        if (results.conditions().onFabric() != onFabric) {
            throw new MeasurementException(file + ": expected results of compare "
                    + (onFabric ? "--fabric" : "without --fabric") + ", found those of '" + results.scenario() + "'");
        }
        if (results.errors() > 0) {
            throw new MeasurementException(
                    file + ": " + results.errors() + " operations or systems went wrong; run the comparison again");
        }
        return Optional.of(results);
    }

    private static List<String> spoiltWimpy(Path file) throws IOException {
        if (!Files.exists(file)) {
            return List.of();
        }
        JsonNode warnings = MAPPER.readTree(file.toFile()).path("warnings");
        if (!warnings.isArray()) {
            return List.of("the results are of an older program, which did not say whether the machine was quiet: run"
                    + " ./softrdma wimpy again");
        }
        return StreamSupport.stream(warnings.spliterator(), false)
                .filter(warning -> warning.path("spoilsVerdicts").asBoolean())
                .map(warning -> warning.path("text").asText())
                .toList();
    }

    /** Rows of a file that is of some command if they have a member of this name. */
    private static List<JsonNode> rows(Path file, String command, String list, String member) throws IOException {
        if (!Files.exists(file)) {
            return List.of();
        }
        try {
            JsonNode rows = MAPPER.readTree(file.toFile()).path(list);
            if (!rows.isArray() || rows.isEmpty() || !rows.get(0).has(member)) {
                throw new MeasurementException(file + " is no result of " + command);
            }
            return StreamSupport.stream(rows.spliterator(), false).toList();
        } catch (JsonProcessingException e) {
            throw new MeasurementException(file + " is no result of " + command + ": " + e.getOriginalMessage(), e);
        }
    }
}
