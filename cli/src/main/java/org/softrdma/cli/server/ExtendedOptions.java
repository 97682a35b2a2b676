package org.softrdma.cli.server;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.store.LruRules;
import org.softrdma.kv.store.PageBalance;

/** What {@code softrdma server} makes of memcached's {@code -o}: a list of words, some with a value. */
final class ExtendedOptions {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;

    private final KvServerContext context;
    private final List<String> warnings = new ArrayList<>();
    private int hotPercent = LruRules.DEFAULT_HOT_PERCENT;
    private int warmPercent = LruRules.DEFAULT_WARM_PERCENT;
    private double hotMaxFactor = LruRules.DEFAULT_HOT_MAX_FACTOR;
    private double warmMaxFactor = LruRules.DEFAULT_WARM_MAX_FACTOR;

    private ExtendedOptions(KvServerContext context) {
        this.context = context;
    }

    /**
     * Sets what the words say.
     *
     * @param words of {@code -o}
     * @param context takes it; has its longest item already
     * @return a sentence for each word that has no effect
     * @throws IllegalArgumentException naming the first word that is not known, or is refused, and why
     */
    static List<String> apply(List<String> words, KvServerContext context) {
        ExtendedOptions options = new ExtendedOptions(context);
        words.forEach(options::take);
        options.tune();
        return options.warnings;
    }

    private void take(String text) {
        ExtendedWord word = ExtendedWord.of(text)
                .orElseThrow(() -> new IllegalArgumentException("-o " + text + ": expected " + known()));
        switch (word.treatment()) {
            case REFUSED -> throw new IllegalArgumentException("-o " + text + " is refused: " + word.remark());
            case WARNED -> warnings.add("-o " + text + " has no effect: " + word.remark());
            case WORKS -> set(word, text, text.substring(text.indexOf('=') + 1));
        }
    }

    /** Those that are worth a try. */
    private static String known() {
        return Arrays.stream(ExtendedWord.values())
                .filter(each -> each.treatment() == Treatment.WORKS)
                .map(each -> each.word() + each.value())
                .collect(Collectors.joining(", "));
    }

    private void set(ExtendedWord word, String text, String value) {
        if (!word.fits(text.indexOf('=') >= 0)) {
            throw new IllegalArgumentException("-o " + text + ": expected " + word.word() + word.value());
        }
        switch (word) {
            case IDLE_TIMEOUT ->
                context.timeouts(timeouts -> timeouts.withIdleTimeoutSeconds(number(text, value, "seconds")));
            case MODERN -> context.items(items -> items.tailsReclaimed(true).crawling(true));
            case NO_MODERN -> context.items(items -> items.tailsReclaimed(false).crawling(false));
            case LRU_MAINTAINER -> context.items(items -> items.tailsReclaimed(true));
            case NO_LRU_MAINTAINER -> context.items(items -> items.tailsReclaimed(false));
            case LRU_CRAWLER -> context.items(items -> items.crawling(true));
            case NO_LRU_CRAWLER -> context.items(items -> items.crawling(false));
            case HOT_LRU_PCT -> hotPercent = percent(text, value);
            case WARM_LRU_PCT -> warmPercent = percent(text, value);
            case HOT_MAX_FACTOR -> hotMaxFactor = factor(text, value);
            case WARM_MAX_FACTOR -> warmMaxFactor = factor(text, value);
            case TEMPORARY_TTL -> {
                int seconds = number(text, value, "seconds");
                context.items(items -> items.lru(rules -> rules.temporaryTtl(seconds)));
            }
            case SLAB_REASSIGN -> moving(balance -> balance.allowed(true));
            case NO_SLAB_REASSIGN -> moving(balance -> balance.allowed(false));
            case SLAB_AUTOMOVE -> {
                String level = text.indexOf('=') < 0 ? "1" : value;
                expect(text, level, given -> given.matches("[012]"), "0, 1 or 2");
                moving(balance -> balance.level(Integer.parseInt(level)));
            }
            case NO_SLAB_AUTOMOVE -> moving(balance -> balance.level(0));
            case SLAB_AUTOMOVE_RATIO -> {
                double ratio = factor(text, value);
                expect(text, value, given -> ratio <= 1, "a part of 1");
                moving(balance -> balance.ratio(ratio));
            }
            case SLAB_AUTOMOVE_WINDOW -> {
                expect(text, value, given -> given.matches("[3-9]|[1-9][0-9]{1,4}"), "3 to 99999 seconds");
                moving(balance -> balance.window(Integer.parseInt(value)));
            }
            case WATCHER_LOGBUF_SIZE ->
                context.diagnosis(settings -> settings.withWatcherBufferBytes(kilobytes(text, value)));
            case TRACK_SIZES -> context.diagnosis(settings -> settings.withSizesTracked(true));
            case SLAB_CHUNK_MAX ->
                checkChunk(text, size("-o " + text, value), context.items().maxItemLength());
            default -> {} // it holds anyway
        }
    }

    private void moving(Consumer<PageBalance> change) {
        context.items(items -> items.balance(change));
    }

    private void tune() {
        if (hotPercent + warmPercent > LruRules.MOST_PERCENT) {
            throw new IllegalArgumentException("-o hot_lru_pct=" + hotPercent + ",warm_lru_pct=" + warmPercent
                    + ": expected at most " + LruRules.MOST_PERCENT + " together");
        }
        context.items(items -> items.lru(rules -> rules.tune(hotPercent, warmPercent, hotMaxFactor, warmMaxFactor)));
    }

    private static int number(String word, String value, String of) {
        expect(word, value, text -> text.matches("[0-9]{1,9}"), "a number of " + of);
        return Integer.parseInt(value);
    }

    private static int percent(String word, String value) {
        expect(word, value, text -> text.matches("[1-9]|[1-7][0-9]|80"), "1 to " + LruRules.MOST_PERCENT);
        return Integer.parseInt(value);
    }

    private static double factor(String word, String value) {
        expect(
                word,
                value,
                text -> text.matches("[0-9]{1,6}(\\.[0-9]{1,6})?") && Double.parseDouble(text) > 0,
                "a number above 0");
        return Double.parseDouble(value);
    }

    private static int kilobytes(String word, String value) {
        expect(word, value, text -> text.matches("[1-9][0-9]{0,5}"), "1 to 999999 kilobytes");
        return Integer.parseInt(value) * KIB;
    }

    private static void expect(String word, String value, Predicate<String> holds, String expected) {
        if (!holds.test(value)) {
            throw new IllegalArgumentException("-o " + word + ": expected " + expected);
        }
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
