package org.softrdma.kv.parity;

/**
 * The text commands of memcached 1.6.18, and what becomes of each: shown by a request and its answer. The reference is
 * generated from this list.
 */
enum MemcachedCommand {
    GET("`get` `gets` `gat` `gats` `bget`", "works", "", "get a", "END"),
    SET("`set` `add` `replace` `append` `prepend` `cas`", "works", "", "set a 0 0 1\r\nx", "STORED"),
    DELETE("`delete` `incr` `decr` `touch`", "works", "", "touch no 0", "NOT_FOUND"),
    META("`mn` `mg` `ms` `md` `ma` `me`", "works", "with all flags", "mn", "MN"),
    FLUSH("`flush_all [DELAY]`", "works", "disabled by `-F`", "flush_all", "OK"),
    VERSION(
            "`version` `verbosity` `quit`",
            "works",
            "`verbosity` changes only what `stats settings` shows",
            "verbosity 1",
            "OK"),
    STATS(
            "`stats` `stats settings` `items` `slabs` `conns` `detail` `reset`",
            "works",
            "same names and order as memcached; 0 for what does not exist here",
            "stats reset",
            "RESET"),
    CACHEDUMP("`stats cachedump CLASS LIMIT`", "works", "disabled by `-X`", "stats cachedump 1 1", "END"),
    SIZES("`stats sizes` `sizes_enable` `sizes_disable`", "works", "", "stats sizes", "STAT sizes_status disabled"),
    EXTSTORE_STATS("`stats extstore` `stats proxy`", "refused", "neither exists", "stats extstore", "ERROR"),
    CRAWLER(
            "`lru_crawler enable` `disable`",
            "works",
            "",
            "lru_crawler enable",
            "ERROR failed to start lru crawler thread"),
    CRAWL("`lru_crawler crawl CLASSES`", "works", "always crawls all classes", "lru_crawler crawl 1", "OK"),
    PACE(
            "`lru_crawler sleep` `tocrawl`",
            "accepted",
            "only shown by `stats settings`: a crawl runs in rounds of a second and covers all items",
            "lru_crawler sleep 100",
            "OK"),
    METADUMP(
            "`lru_crawler metadump CLASSES`",
            "works",
            "also `mgdump`; both disabled by `-X`",
            "lru_crawler metadump all",
            "END"),
    LRU("`lru tune` `mode` `temp_ttl`", "works", "", "lru tune 20 40 0.2 2.0", "OK"),
    WATCH(
            "`watch fetchers` `mutations` `evictions` `connevents`",
            "works",
            "disabled by `-W`; does not show GETs by READ",
            "watch evictions",
            "OK"),
    WATCH_OTHERS(
            "`watch rawcmds` `sysevents` `proxyreqs` `proxyevents` `proxyuser`",
            "accepted",
            "such events do not occur",
            "watch sysevents",
            "OK"),
    MEMORY(
            "`cache_memlimit MEGABYTES`",
            "works",
            "if the limit is lowered, pages of the pool go; those that a class has stay",
            "cache_memlimit 64",
            "OK"),
    AUTOMOVE("`slabs automove LEVEL`", "works", "", "slabs automove 1", "OK"),
    REASSIGN(
            "`slabs reassign FROM TO`",
            "works",
            "0 as FROM has no page to spare: classes take pages of the pool by themselves; a page whose items stay in"
                    + " use for half a minute stays with its class",
            "slabs reassign 1 2",
            "NOSPARE source class has no spare pages"),
    EXTSTORE(
            "`extstore ...`",
            "refused",
            "there is no external storage",
            "extstore item_size 1",
            "CLIENT_ERROR extstore is not offered: clients READ items from memory"),
    SHUTDOWN("`shutdown [graceful]`", "works", "with `-A`", "shutdown", "ERROR: shutdown not enabled");

    private final String names;
    private final String treatment;
    private final String remark;
    private final String request;
    private final String answer;

    MemcachedCommand(String names, String treatment, String remark, String request, String answer) {
        this.names = names;
        this.treatment = treatment;
        this.remark = remark;
        this.request = request;
        this.answer = answer;
    }

    /** One of them. */
    String request() {
        return request;
    }

    /** The first line of the answer to that. */
    String answer() {
        return answer;
    }

    String row() {
        return "| " + names + " | " + treatment + " | " + remark + " |";
    }
}
