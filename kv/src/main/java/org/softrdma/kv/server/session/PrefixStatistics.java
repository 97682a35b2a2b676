package org.softrdma.kv.server.session;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.memcached.TextProtocol;

/**
 * {@code stats detail}: what the classic commands did with keys of each prefix, the bytes before a delimiter.
 * Counts nothing until it is switched on; any thread.
 */
final class PrefixStatistics {
    /** Prefixes come from clients: further ones are not counted. */
    private static final int MOST_PREFIXES = 1 << 12;

    private final Map<String, Counts> prefixes = new ConcurrentHashMap<>();
    private final char delimiter;
    private volatile boolean counting;

    /**
     * No prefixes yet.
     *
     * @param delimiter ends a prefix
     */
    PrefixStatistics(char delimiter) {
        this.delimiter = delimiter;
    }

    boolean isCounting() {
        return counting;
    }

    void counting(boolean on) {
        counting = on;
    }

    void get(KeySlice key, boolean hit) {
        Counts counts = counting ? find(key) : null;
        if (counts != null) {
            counts.gets.increment();
            if (hit) {
                counts.hits.increment();
            }
        }
    }

    void set(KeySlice key) {
        Counts counts = counting ? find(key) : null;
        if (counts != null) {
            counts.sets.increment();
        }
    }

    void delete(KeySlice key) {
        Counts counts = counting ? find(key) : null;
        if (counts != null) {
            counts.deletes.increment();
        }
    }

    private @Nullable Counts find(KeySlice key) {
        byte[] bytes = key.bytes();
        for (int i = 0; i < key.length(); i++) {
            if (bytes[key.offset() + i] == delimiter) {
                String prefix = new String(bytes, key.offset(), i, StandardCharsets.ISO_8859_1);
                Counts counts = prefixes.get(prefix);
                return counts != null || prefixes.size() >= MOST_PREFIXES
                        ? counts
                        : prefixes.computeIfAbsent(prefix, _ -> new Counts());
            }
        }
        return null;
    }

    /** The answer to {@code stats detail dump}. */
    byte[] dump() {
        StringBuilder lines = new StringBuilder();
        new TreeMap<>(prefixes)
                .forEach((prefix, counts) -> lines.append("PREFIX ")
                        .append(prefix)
                        .append(" get ")
                        .append(counts.gets.sum())
                        .append(" hit ")
                        .append(counts.hits.sum())
                        .append(" set ")
                        .append(counts.sets.sum())
                        .append(" del ")
                        .append(counts.deletes.sum())
                        .append("\r\n"));
        lines.append(new String(TextProtocol.END, StandardCharsets.US_ASCII));
        return lines.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    void reset() {
        prefixes.clear();
    }

    /** The counts of one prefix. */
    private static final class Counts {
        final LongAdder gets = new LongAdder();
        final LongAdder hits = new LongAdder();
        final LongAdder sets = new LongAdder();
        final LongAdder deletes = new LongAdder();
    }
}
