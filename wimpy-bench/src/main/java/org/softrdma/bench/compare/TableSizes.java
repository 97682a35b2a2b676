package org.softrdma.bench.compare;

import java.util.LinkedHashMap;
import java.util.Map;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.stores.Protocol;

/**
 * Options of the designs whose papers say how full their tables are, so that a comparison has them that full: Pilaf's
 * 75 % (its section 3.4), FaRM's 90 % with pairs of up to 128 bytes in the table (its section 5.2), Nessie's 20 % at
 * most (its section 6). In the safe form Nessie's entries rest so shortly that those that are free never run out at the rates
 * of a whole core. A design that is not named here runs with its defaults.
 */
final class TableSizes {
    private static final double PILAF_FILL = 0.75;
    private static final double NESSIE_FILL = 0.20;
    private static final double FARM_FILL = 0.90;
    private static final int FARM_SLOTS_OF_BUCKET = 3;
    private static final int FARM_INLINE = 128;
    private static final long FARM_LEAST_REGION = 64L << 20;
    private static final long FARM_LARGEST_REGION = 1L << 31;
    private static final int FARM_MEMORY_FACTOR = 3;
    private static final int FARM_OVERHEAD = 256;
    private static final int NESSIE_ENTRIES_PER_PAIR = 2;
    /** Entries that workers have in stock. */
    private static final int NESSIE_STOCKS = 8192;

    private static final int NESSIE_LEAST_LOG = 10;
    private static final int NESSIE_REUSE_MS = 10;
    /** Entries that the PUTs of a second take at the rates of a whole core. */
    private static final int NESSIE_LOG_OF_A_SECOND = 18;

    private static final int NESSIE_SD_WORKERS = 2;
    private static final int EXTENT_HEADER = 8;
    private static final int LEAST_LOG_EXTENTS = 16;

    private TableSizes() {}

    /**
     * Options of a server.
     *
     * @param design its name
     * @param protocol which form of it
     * @param pairs that it is to hold
     * @param valueLength bytes of every value
     */
    static Map<String, String> of(String design, Protocol protocol, int pairs, int valueLength) {
        return switch (design) {
            case "pilaf", "pilaf-vo" -> pilaf(pairs, valueLength);
            case "farm" -> farm(pairs, valueLength);
            case "nessie" -> nessie(protocol, pairs);
            case "nessie-sd" -> nessieSd(pairs);
            default -> Map.of();
        };
    }

    private static Map<String, String> pilaf(int pairs, int valueLength) {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("entries", Integer.toString(log2(Math.round(Math.ceil(pairs / PILAF_FILL)))));
        // Extents are powers of two; a PUT needs one more than there are pairs.
        long extent = 1L << log2(EXTENT_HEADER + MixPairs.KEY_LENGTH + valueLength);
        options.put("extents", Integer.toString(Math.max(LEAST_LOG_EXTENTS, log2(extent * (pairs + pairs / 8)))));
        return options;
    }

    /** As published, an operation gives up after half of the time that entries rest: they rest for the paper's second. */
    private static Map<String, String> nessie(Protocol protocol, int pairs) {
        Map<String, String> options = new LinkedHashMap<>();
        int index = log2(Math.round(Math.ceil(pairs / NESSIE_FILL)));
        options.put("index", Integer.toString(Math.max(NESSIE_LEAST_LOG, index)));
        int entries = log2((long) NESSIE_ENTRIES_PER_PAIR * pairs + NESSIE_STOCKS);
        if (protocol == Protocol.SAFE) {
            options.put("reuse-ms", Integer.toString(NESSIE_REUSE_MS));
        } else {
            entries = Math.max(entries, NESSIE_LOG_OF_A_SECOND);
        }
        options.put("entries", Integer.toString(entries));
        return options;
    }

    private static Map<String, String> nessieSd(int pairs) {
        int words = log2(Math.round(Math.ceil(pairs / NESSIE_FILL / NESSIE_SD_WORKERS)));
        int entries = log2(Math.round(Math.ceil(pairs / PILAF_FILL / NESSIE_SD_WORKERS)));
        Map<String, String> options = new LinkedHashMap<>();
        options.put("workers", Integer.toString(NESSIE_SD_WORKERS));
        options.put("index", Integer.toString(Math.max(NESSIE_LEAST_LOG, words)));
        options.put("entries", Integer.toString(Math.max(NESSIE_LEAST_LOG, entries)));
        return options;
    }

    private static Map<String, String> farm(int pairs, int valueLength) {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("values", valueLength <= FARM_INLINE ? "inline" : "outline");
        options.put("buckets", Long.toString(Math.round(Math.ceil(pairs / FARM_FILL / FARM_SLOTS_OF_BUCKET))));
        long bytes = (long) FARM_MEMORY_FACTOR * pairs * (MixPairs.KEY_LENGTH + valueLength + FARM_OVERHEAD);
        options.put("region", Long.toString(Math.clamp(1L << log2(bytes), FARM_LEAST_REGION, FARM_LARGEST_REGION)));
        return options;
    }

    /** The least power of two that is not less. */
    private static int log2(long number) {
        return Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, number - 1));
    }
}
