package org.softrdma.cli.server;

import java.util.List;
import java.util.Locale;
import org.softrdma.kv.server.KvServerContext;

/** What {@code softrdma server} makes of memcached's {@code -o}: a list of words, some with a value. */
final class ExtendedOptions {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;

    /** What scripts made for memcached pass, and what holds here anyway. */
    private static final List<String> IGNORED =
            List.of("relaxed_privileges", "maxconns_fast", "no_slab_reassign", "slab_automove=0");

    private static final List<String> KNOWN = List.of(
            "idle_timeout=SECONDS",
            "[no_]modern",
            "[no_]lru_maintainer",
            "[no_]lru_crawler",
            "slab_chunk_max=SIZE (not below -I)",
            "relaxed_privileges",
            "maxconns_fast",
            "no_slab_reassign",
            "slab_automove=0");

    private ExtendedOptions() {}

    /**
     * Sets what the words say.
     *
     * @param words of {@code -o}
     * @param context takes it; has its longest item already
     * @throws IllegalArgumentException naming the first word that is not known, and those that are
     */
    static void apply(List<String> words, KvServerContext context) {
        for (String word : words) {
            String value = word.substring(word.indexOf('=') + 1);
            switch (word.indexOf('=') < 0 ? word : word.substring(0, word.indexOf('='))) {
                case "idle_timeout" -> context.timeouts(timeouts -> timeouts.idleTimeoutSeconds(seconds(word, value)));
                case "modern" ->
                    context.items(items -> items.tailsReclaimed(true).crawling(true));
                case "no_modern" ->
                    context.items(items -> items.tailsReclaimed(false).crawling(false));
                case "lru_maintainer" -> context.items(items -> items.tailsReclaimed(true));
                case "no_lru_maintainer" -> context.items(items -> items.tailsReclaimed(false));
                case "lru_crawler" -> context.items(items -> items.crawling(true));
                case "no_lru_crawler" -> context.items(items -> items.crawling(false));
                case "slab_chunk_max" ->
                    checkChunk(word, size("-o " + word, value), context.items().maxItemLength());
                default -> {
                    if (!IGNORED.contains(word)) {
                        throw new IllegalArgumentException("-o " + word + ": expected " + String.join(", ", KNOWN));
                    }
                }
            }
        }
    }

    private static int seconds(String word, String value) {
        if (!value.matches("[0-9]{1,9}")) {
            throw new IllegalArgumentException("-o " + word + ": expected a number of seconds");
        }
        return Integer.parseInt(value);
    }

    private static void checkChunk(String word, int length, int maxItemLength) {
        if (length < maxItemLength) {
            throw new IllegalArgumentException("-o " + word + ": expected at least the largest item, -I "
                    + maxItemLength + ": items are not split into chunks, so that one READ gets an item");
        }
    }

    /**
     * A size in memcached's form: bytes, or a number with k or m.
     *
     * @param option as the user wrote it, for the message
     * @param text its value
     * @throws IllegalArgumentException if it is none
     */
    static int size(String option, String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        int unit = lower.endsWith("k") ? KIB : lower.endsWith("m") ? MIB : 1;
        try {
            return Math.multiplyExact(
                    Integer.parseInt(unit == 1 ? lower : lower.substring(0, lower.length() - 1)), unit);
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException(option + ": expected a size such as 512k or 2m", e);
        }
    }
}
