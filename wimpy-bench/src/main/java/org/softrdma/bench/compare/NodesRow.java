package org.softrdma.bench.compare;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.softrdma.bench.study.ReportText;
import org.softrdma.stores.StoreCounter;

/**
 * What was counted of Nessie on several nodes, as results.json has it. Each node has a worker, whose PUTs go to its own data
 * table.
 *
 * @param block what is varied
 * @param nodes how many
 * @param pairs of the store: one for five words of the index
 * @param localityPercent of the choices that are of the worker's own pairs, those that it has put; the others are all alike
 * @param filterBits of each word
 * @param cacheEntries of each worker
 * @param skew of Zipf's law by which keys were chosen; 0 if all alike
 * @param mix letter of YCSB's mix
 * @param operations that did what they were asked for
 * @param counts by the names of {@link StoreCounter} and of this class, per operation; those that are not zero
 * @param errors what went wrong, and how often
 */
public record NodesRow(
        Block block,
        int nodes,
        int pairs,
        int localityPercent,
        int filterBits,
        int cacheEntries,
        double skew,
        String mix,
        long operations,
        Map<String, Double> counts,
        Map<String, Long> errors) {
    /** READs of the memory of other nodes than the worker's own; of one worker only. */
    public static final String FAR_READS = "farReads";

    /** Bytes that these brought. */
    public static final String FAR_READ_BYTES = "farReadBytes";

    /** What is varied. */
    public enum Block {
        /** How many choices are of pairs nearby (paper, figure 9). */
        LOCALITY,
        /** How many bits of the key's hash a word has (paper, figure 10). */
        FILTER,
        /** Whether a worker keeps copies, how popular some keys are, and how many operations are PUTs (paper, figure 11). */
        CACHE
    }

    /** Copies the collections. */
    public NodesRow {
        counts = new LinkedHashMap<>(counts);
        errors = new LinkedHashMap<>(errors);
    }

    /** What is varied, and how, for people. */
    String title() {
        return nodes + " nodes, "
                + switch (block) {
                    case LOCALITY -> localityPercent + " % nearby";
                    case FILTER -> filterBits + " filter bits";
                    case CACHE ->
                        String.format(Locale.ROOT, "skew %.1f, mix %s, ", skew, mix)
                                + (cacheEntries == 0 ? "no cache" : "cache of " + cacheEntries);
                };
    }

    /** A count of READs of other nodes for people; empty of all workers at once, of which nothing is far. */
    String far(String name, int digits) {
        return block == Block.CACHE ? "" : ReportText.number(count(name), digits);
    }

    /** A count per operation. */
    public double count(StoreCounter counter) {
        return count(counter.name());
    }

    /** A count per operation. */
    public double count(String name) {
        return counts.getOrDefault(name, 0.0);
    }

    /** Entries READ per GET; of GETs only, whose other READs are one for each word that they look at. */
    public double entries() {
        return count(StoreCounter.READS) - count(StoreCounter.PROBES);
    }

    /** Those of other nodes. By the bytes: all words are of one length, and so are all entries. */
    public double farEntries() {
        double words = count(StoreCounter.PROBES);
        double entryBytes = (count(StoreCounter.READ_BYTES) - Long.BYTES * words) / entries();
        return (count(FAR_READ_BYTES) - Long.BYTES * count(FAR_READS)) / (entryBytes - Long.BYTES);
    }

    /** Operations that went wrong. */
    long failures() {
        return errors.values().stream().mapToLong(Long::longValue).sum();
    }
}
