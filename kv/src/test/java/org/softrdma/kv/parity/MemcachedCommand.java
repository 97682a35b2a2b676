package org.softrdma.kv.parity;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.softrdma.kv.memcached.TextCommand;

/**
 * The text commands of memcached 1.6.18, and what becomes of each: shown by requests and the first lines of their answers,
 * in this order. The reference is generated from this list and from {@link TextCommand}.
 */
@SuppressWarnings("ImmutableEnumChecker") // nobody changes what they hold
enum MemcachedCommand {
    SET(
            TextCommand.SET,
            "store",
            "",
            "set a 0 0 1\r\nx",
            "STORED",
            "set a 0 0 2000000\r\n" + "x".repeat(2_000_000),
            "SERVER_ERROR object too large for cache"),
    ADD(TextCommand.ADD, "store", "", "add a 0 0 1\r\n1", "STORED", "add a 0 0 1\r\nx", "NOT_STORED"),
    REPLACE(TextCommand.REPLACE, "store", "", "replace a 0 0 1\r\nx", "STORED", "replace no 0 0 1\r\nx", "NOT_STORED"),
    APPEND(TextCommand.APPEND, "store", "", "append a 0 0 1\r\ny", "STORED", "append no 0 0 1\r\ny", "NOT_STORED"),
    PREPEND(TextCommand.PREPEND, "store", "", "prepend a 0 0 1\r\nz", "STORED", "prepend no 0 0 1\r\nz", "NOT_STORED"),
    CAS(
            TextCommand.CAS,
            "store",
            "",
            "cas a 0 0 1 CAS\r\nx",
            "STORED",
            "cas a 0 0 1 999999\r\nx",
            "EXISTS",
            "cas no 0 0 1 1\r\nx",
            "NOT_FOUND"),
    GET(TextCommand.GET, "get", "`bget` is the same", "get a", "VALUE a 0 1", "get no", "END"),
    GETS(TextCommand.GETS, "get", "", "gets a", "VALUE a 0 1 CAS"),
    GAT(TextCommand.GAT, "get, touch", "", "gat 0 a", "VALUE a 0 1"),
    GATS(TextCommand.GATS, "get, touch", "", "gats 0 a", "VALUE a 0 1 CAS"),
    TOUCH(TextCommand.TOUCH, "touch", "", "touch a 0", "TOUCHED", "touch no 0", "NOT_FOUND"),
    INCR(
            TextCommand.INCR,
            "arithmetic",
            "",
            "incr a 1",
            "CLIENT_ERROR cannot increment or decrement non-numeric value",
            "incr no 1",
            "NOT_FOUND"),
    META_NOOP(TextCommand.META_NOOP, "", "", "mn", "MN"),
    META_SET(
            TextCommand.META_SET,
            "store",
            "with all flags",
            "ms n 1\r\n5",
            "HD",
            "ms n 1 ME\r\n5",
            "NS",
            "ms n 1 C999999\r\n5",
            "EX",
            "ms no 1 C1\r\n5",
            "NF"),
    META_GET(TextCommand.META_GET, "get, touch", "with all flags", "mg n v", "VA 1", "mg n", "HD", "mg no v", "EN"),
    META_ARITHMETIC(TextCommand.META_ARITHMETIC, "arithmetic", "with all flags", "ma n v", "VA 1", "ma no", "NF"),
    META_DELETE(
            TextCommand.META_DELETE, "delete", "with all flags", "md no", "NF", "md n C999999", "EX", "md n I", "HD"),
    META_DEBUG(TextCommand.META_DEBUG, "", "", "me no", "EN"),
    DECR(TextCommand.DECR, "arithmetic", "", "decr n 9", "0"),
    DELETE(TextCommand.DELETE, "delete", "", "delete n", "DELETED", "delete no", "NOT_FOUND"),
    FLUSH(TextCommand.FLUSH_ALL, "", "disabled by `-F`", "flush_all", "OK"),
    VERSION(TextCommand.VERSION, "", "", "version", "VERSION 1.6.18-softrdma"),
    VERBOSITY(TextCommand.VERBOSITY, "", "changes only what `stats settings` shows", "verbosity 1", "OK"),
    QUIT(TextCommand.QUIT, "", ""),
    STATS(
            TextCommand.STATS,
            "`stats` `stats settings` `items` `slabs` `conns` `detail` `reset`",
            "same names and order as memcached; 0 for what does not exist here",
            "stats reset",
            "RESET"),
    CACHEDUMP(TextCommand.STATS, "`stats cachedump CLASS LIMIT`", "disabled by `-X`", "stats cachedump 1 1", "END"),
    SIZES(
            TextCommand.STATS,
            "`stats sizes` `sizes_enable` `sizes_disable`",
            "",
            "stats sizes",
            "STAT sizes_status disabled"),
    EXTSTORE_STATS(
            TextCommand.STATS, "`stats extstore` `stats proxy`", "refused: neither exists", "stats extstore", "ERROR"),
    CRAWLER(
            TextCommand.LRU_CRAWLER,
            "`lru_crawler enable` `disable`",
            "",
            "lru_crawler enable",
            "ERROR failed to start lru crawler thread"),
    CRAWL(
            TextCommand.LRU_CRAWLER,
            "`lru_crawler crawl CLASSES`",
            "always crawls all classes",
            "lru_crawler crawl 1",
            "OK"),
    PACE(
            TextCommand.LRU_CRAWLER,
            "`lru_crawler sleep` `tocrawl`",
            "only shown by `stats settings`: a crawl runs in rounds of a second and covers all items",
            "lru_crawler sleep 100",
            "OK"),
    METADUMP(
            TextCommand.LRU_CRAWLER,
            "`lru_crawler metadump CLASSES`",
            "also `mgdump`; both disabled by `-X`",
            "lru_crawler metadump all",
            "END"),
    LRU(TextCommand.LRU, "`lru tune` `mode` `temp_ttl`", "", "lru tune 20 40 0.2 2.0", "OK"),
    WATCH(
            TextCommand.WATCH,
            "`watch fetchers` `mutations` `evictions` `connevents`",
            "disabled by `-W`; does not show GETs by READ",
            "watch evictions",
            "OK"),
    WATCH_OTHERS(
            TextCommand.WATCH,
            "`watch rawcmds` `sysevents` `proxyreqs` `proxyevents` `proxyuser`",
            "accepted, but such events do not occur",
            "watch sysevents",
            "OK"),
    MEMORY(
            TextCommand.CACHE_MEMLIMIT,
            "",
            "if the limit is lowered, pages of the pool go; those that a class has stay",
            "cache_memlimit 64",
            "OK"),
    AUTOMOVE(TextCommand.SLABS, "`slabs automove LEVEL`", "", "slabs automove 1", "OK"),
    REASSIGN(
            TextCommand.SLABS,
            "`slabs reassign FROM TO`",
            "0 as FROM has no page to spare: classes take pages of the pool by themselves; a page whose items stay in"
                    + " use for half a minute stays with its class",
            "slabs reassign 1 2",
            "NOSPARE source class has no spare pages"),
    EXTSTORE(
            TextCommand.EXTSTORE,
            "`extstore ...`",
            "refused: there is no external storage",
            "extstore item_size 1",
            "CLIENT_ERROR extstore is not offered: clients READ items from memory"),
    REFRESH_CERTS(
            TextCommand.REFRESH_CERTS,
            "",
            "rereads the certificates of [TLS](../guide/security.md#tls)",
            "refresh_certs",
            "Error TLS not enabled"),
    SHUTDOWN(TextCommand.SHUTDOWN, "", "with `-A`", "shutdown", "ERROR: shutdown not enabled");

    private final TextCommand command;
    private final String forms;
    private final String operation;
    private final String remark;
    private final Map<String, String> answers = new LinkedHashMap<>();

    /** What it asks for is in the line of its table, or in these forms of it. */
    MemcachedCommand(TextCommand command, String operationOrForms, String remark, String... requestsAndAnswers) {
        boolean isForms = operationOrForms.startsWith("`");
        this.command = command;
        this.forms = isForms ? operationOrForms : "`" + command.usage() + "`";
        this.operation = isForms ? "" : operationOrForms;
        this.remark = remark;
        for (int i = 0; i < requestsAndAnswers.length; i += 2) {
            answers.put(requestsAndAnswers[i], requestsAndAnswers[i + 1]);
        }
    }

    /** What the line begins with. */
    TextCommand command() {
        return command;
    }

    /**
     * Requests, each with the first line of its answer. In a line of the key a, CAS stands for the cas number of its
     * item.
     */
    Map<String, String> answers() {
        return answers;
    }

    String row() {
        String shown = answers.entrySet().stream()
                .map(each -> "`" + line(each.getKey()) + "`: `" + each.getValue() + "`")
                .collect(Collectors.joining(", "));
        return "| " + forms + " | " + operation + " | " + shown + " | " + remark + " |";
    }

    private static String line(String request) {
        return request.lines().findFirst().orElseThrow();
    }
}
