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
    FLUSH("`flush_all [DELAY]`", "works", "`-F` refuses it", "flush_all", "OK"),
    VERSION(
            "`version` `verbosity` `quit`",
            "works",
            "verbosity changes what `stats settings` says, and no more",
            "verbosity 1",
            "OK"),
    STATS(
            "`stats` `stats settings` `items` `slabs` `conns` `detail` `reset`",
            "works",
            "names and order are memcached's; 0 where there is nothing of the kind",
            "stats reset",
            "RESET"),
    CACHEDUMP("`stats cachedump CLASS LIMIT`", "works", "`-X` refuses it", "stats cachedump 1 1", "END"),
    SIZES("`stats sizes` `sizes_enable` `sizes_disable`", "works", "", "stats sizes", "STAT sizes_status disabled"),
    EXTSTORE_STATS("`stats extstore` `stats proxy`", "refused", "there is neither", "stats extstore", "ERROR"),
    CRAWLER(
            "`lru_crawler enable` `disable`",
            "works",
            "",
            "lru_crawler enable",
            "ERROR failed to start lru crawler thread"),
    CRAWL(
            "`lru_crawler crawl CLASSES`",
            "works",
            "looks at all classes, whichever it names",
            "lru_crawler crawl 1",
            "OK"),
    PACE(
            "`lru_crawler sleep` `tocrawl`",
            "accepted",
            "shown by `stats settings`; rounds of a second set the pace, and a crawl looks at all items",
            "lru_crawler sleep 100",
            "OK"),
    METADUMP(
            "`lru_crawler metadump CLASSES`",
            "works",
            "also `mgdump`; `-X` refuses them",
            "lru_crawler metadump all",
            "END"),
    LRU("`lru tune` `mode` `temp_ttl`", "works", "", "lru tune 20 40 0.2 2.0", "OK"),
    WATCH(
            "`watch fetchers` `mutations` `evictions` `connevents`",
            "works",
            "`-W` refuses it; GETs by READ are not seen",
            "watch evictions",
            "OK"),
    WATCH_OTHERS(
            "`watch rawcmds` `sysevents` `proxyreqs` `proxyevents` `proxyuser`",
            "accepted",
            "nothing of the kind happens",
            "watch sysevents",
            "OK"),
    MEMORY(
            "`cache_memlimit MEGABYTES`",
            "works",
            "pages above a lower limit stay, and are used for their class",
            "cache_memlimit 64",
            "OK"),
    AUTOMOVE("`slabs automove 0`", "works", "", "slabs automove 0", "OK"),
    REASSIGN(
            "`slabs reassign`, `slabs automove` of other levels",
            "refused",
            "a page stays with its class",
            "slabs reassign 1 2",
            "CLIENT_ERROR slab reassignment disabled"),
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
