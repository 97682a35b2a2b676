package org.softrdma.cli.server;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * The words of {@code -o} that memcached 1.6.18 knows, and what becomes of each. The reference is generated from this
 * list.
 */
enum ExtendedWord {
    MAXCONNS_FAST("", "connections above -c are always refused"),
    NO_MAXCONNS_FAST(Treatment.WARNED, "", "connections above -c are refused; they do not wait"),
    HASHPOWER(Treatment.WARNED, "=N", "the hash table grows with its items, a part at a time"),
    NO_HASHEXPAND(Treatment.WARNED, "", "the hash table grows with its items, a part at a time"),
    SLAB_REASSIGN("", "pages may change their slab class; on by default"),
    NO_SLAB_REASSIGN("", ""),
    SLAB_AUTOMOVE("[=LEVEL]", "0, 1 or 2; 1 by default"),
    NO_SLAB_AUTOMOVE("", ""),
    SLAB_AUTOMOVE_RATIO("=RATIO", ""),
    SLAB_AUTOMOVE_WINDOW("=SECONDS", ""),
    SLAB_AUTOMOVE_FREERATIO(Treatment.WARNED, "=RATIO", "it is for external storage, which there is none of"),
    SLAB_SIZES(Treatment.REFUSED, "=A-B-C", "chunk sizes follow from -f and -n"),
    SLAB_CHUNK_MAX("=SIZE", "at least -I: an item is not split into chunks, so that one READ gets it"),
    NO_CHUNKED_ITEMS("", "an item is never split into chunks"),
    TAIL_REPAIR_TIME(Treatment.WARNED, "=SECONDS", "busy items at the tail of an LRU list are skipped"),
    HASH_ALGORITHM(Treatment.WARNED, "=NAME", "there is only one hash function, whose seed clients do not know"),
    MODERN("", "the same as lru_maintainer and lru_crawler"),
    NO_MODERN("", "the same as no_lru_maintainer and no_lru_crawler"),
    LRU_CRAWLER("", "searches all items for expired ones, once a minute; on by default"),
    NO_LRU_CRAWLER("", ""),
    LRU_CRAWLER_SLEEP(Treatment.WARNED, "=MICROSECONDS", "the search runs in rounds of a second"),
    LRU_CRAWLER_TOCRAWL(Treatment.WARNED, "=N", "each search covers all items"),
    LRU_MAINTAINER("", "checks the ends of the LRU lists every second; on by default"),
    NO_LRU_MAINTAINER("", ""),
    HOT_LRU_PCT("=PERCENT", "shares are of items, not of bytes"),
    WARM_LRU_PCT("=PERCENT", "shares are of items, not of bytes"),
    HOT_MAX_FACTOR("=FACTOR", ""),
    WARM_MAX_FACTOR("=FACTOR", ""),
    TEMPORARY_TTL("=SECONDS", ""),
    IDLE_TIMEOUT("=SECONDS", "connections with a queue pair are exempt"),
    WATCHER_LOGBUF_SIZE("=KILOBYTES", ""),
    WORKER_LOGBUF_SIZE(Treatment.WARNED, "=KILOBYTES", "lines go to watchers at once"),
    TRACK_SIZES("", ""),
    INLINE_ASCII_RESP(Treatment.WARNED, "", "has no effect in memcached either"),
    NO_INLINE_ASCII_RESP("", "has no effect in memcached either"),
    RESP_OBJ_MEM_LIMIT(Treatment.WARNED, "=MEGABYTES", "-XX:MaxDirectMemorySize limits buffers of connections"),
    READ_BUF_MEM_LIMIT(Treatment.WARNED, "=MEGABYTES", "-XX:MaxDirectMemorySize limits buffers of connections"),
    DROP_PRIVILEGES(Treatment.WARNED, "", "a JVM needs its system calls; a supervisor can restrict them"),
    NO_DROP_PRIVILEGES("", ""),
    RELAXED_PRIVILEGES("", "for memcached's tests"),
    SOCK_COOKIE_ID(Treatment.WARNED, "=N", "sockets are not marked"),
    EXT_PATH(Treatment.REFUSED, "=FILE:SIZE", "items are READ from memory; --memory-file lets idle ones leave RAM"),
    EXT_PAGE_SIZE(Treatment.REFUSED, "=MEGABYTES", "there is no external storage"),
    EXT_WBUF_SIZE(Treatment.REFUSED, "=MEGABYTES", "there is no external storage"),
    EXT_THREADS(Treatment.REFUSED, "=N", "there is no external storage"),
    EXT_ITEM_SIZE(Treatment.REFUSED, "=BYTES", "there is no external storage"),
    EXT_ITEM_AGE(Treatment.REFUSED, "=SECONDS", "there is no external storage"),
    EXT_LOW_TTL(Treatment.REFUSED, "=SECONDS", "there is no external storage"),
    EXT_DROP_UNREAD(Treatment.REFUSED, "", "there is no external storage"),
    EXT_RECACHE_RATE(Treatment.REFUSED, "=N", "there is no external storage"),
    EXT_COMPACT_UNDER(Treatment.REFUSED, "=PAGES", "there is no external storage"),
    EXT_DROP_UNDER(Treatment.REFUSED, "=PAGES", "there is no external storage"),
    EXT_MAX_FRAG(Treatment.REFUSED, "=RATIO", "there is no external storage"),
    EXT_MAX_SLEEP(Treatment.REFUSED, "=MICROSECONDS", "there is no external storage"),
    PROXY_CONFIG(Treatment.REFUSED, "=FILE", "there is no proxy; mcrouter and twemproxy work in front"),
    PROXY_URING(Treatment.REFUSED, "", "there is no proxy; mcrouter and twemproxy work in front");

    private final Treatment treatment;
    private final String value;
    private final String remark;

    ExtendedWord(String value, String remark) {
        this(Treatment.WORKS, value, remark);
    }

    ExtendedWord(Treatment treatment, String value, String remark) {
        this.treatment = treatment;
        this.value = value;
        this.remark = remark;
    }

    /** The one that a word of the user begins with. */
    static Optional<ExtendedWord> of(String word) {
        String name = word.indexOf('=') < 0 ? word : word.substring(0, word.indexOf('='));
        return Arrays.stream(values()).filter(each -> each.word().equals(name)).findFirst();
    }

    /** As the user writes it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What stands behind it, with its sign; empty if nothing does, in brackets if it may be left out. */
    String value() {
        return value;
    }

    /** Whether the user has given a value if and only if one is expected. */
    boolean fits(boolean given) {
        return value.startsWith("[") || value.isEmpty() != given;
    }

    Treatment treatment() {
        return treatment;
    }

    /** What differs from memcached, or why it has no effect; may be empty. */
    String remark() {
        return remark;
    }
}
