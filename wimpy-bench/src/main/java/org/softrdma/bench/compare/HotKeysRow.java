package org.softrdma.bench.compare;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How often GETs of Pilaf READ once more because a PUT came between, where there are only a few keys, as results.json has it.
 *
 * @param keys how many, all alike
 * @param operations that did what they were asked for, half of them GETs
 * @param entryRetries entries of the index READ again, per GET
 * @param extentRetries extents READ again, per GET
 * @param errors what went wrong, and how often
 */
public record HotKeysRow(
        int keys, long operations, double entryRetries, double extentRetries, Map<String, Long> errors) {
    /** Copies the map. */
    public HotKeysRow {
        errors = new LinkedHashMap<>(errors);
    }

    /** READs that were made again, per GET. */
    public double retries() {
        return entryRetries + extentRetries;
    }

    /** Operations that went wrong. */
    long failures() {
        return errors.values().stream().mapToLong(Long::longValue).sum();
    }
}
