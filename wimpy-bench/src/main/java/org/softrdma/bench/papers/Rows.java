package org.softrdma.bench.papers;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Rows of results in JSON. Paths have a slash between names, as {@code values/getP50Micros}; a number that is not there is 0
 * where rows are chosen by it.
 *
 * @param all the rows
 */
record Rows(List<JsonNode> all) {
    private static JsonNode at(JsonNode row, String path) {
        return row.at("/" + path);
    }

    Rows where(Predicate<JsonNode> which) {
        return new Rows(all.stream().filter(which).toList());
    }

    Rows where(String path, String text) {
        return where(row -> at(row, path).asText().equals(text));
    }

    Rows where(String path, double number) {
        return where(row -> at(row, path).asDouble() == number);
    }

    private IntStream numbers(String path) {
        return all.stream().mapToInt(row -> at(row, path).asInt());
    }

    /** The least number; 0 without rows. */
    int least(String path) {
        return numbers(path).min().orElse(0);
    }

    /** The greatest number; 0 without rows. */
    int most(String path) {
        return numbers(path).max().orElse(0);
    }

    /** All numbers, each once, the least one first. */
    List<Integer> each(String path) {
        return numbers(path).distinct().sorted().boxed().toList();
    }

    /** The number of the first row; NaN if it has none, or there is no row. */
    double first(String path) {
        return all.isEmpty() ? Double.NaN : number(all.getFirst(), path);
    }

    /** A row's number; NaN if it has none. */
    static double number(JsonNode row, String path) {
        return at(row, path).asDouble(Double.NaN);
    }
}
