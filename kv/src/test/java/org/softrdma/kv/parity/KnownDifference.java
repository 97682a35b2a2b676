package org.softrdma.kv.parity;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where this server differs from memcached 1.6.18 on purpose: each with its reason, which the reference repeats. Those
 * that a {@link Fuzzer} meets say how it recognises them; a difference that no such rule covers fails it.
 */
enum KnownDifference {
    REFUSED_VALUE(
            "The value of a storage command that is refused",
            "is taken for a command, unless the command is an `ms`",
            "is skipped wherever its length can be read",
            "Anybody who can choose a value could otherwise inject commands.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return unit.value()
                    && theirs.startsWith(ours)
                    && theirs.substring(ours.length()).matches("(ERROR\r\n)+")
                    && (!ours.isEmpty() || unit.text().contains("noreply"));
        }
    },
    UNFINISHED_VALUE(
            "A value that is announced and does not come, or not as a whole",
            "takes its memory at once, and keeps it",
            "takes memory when its first bytes come. All such values hold at most half of `-m`; beyond that, those of"
                    + " clients that have stopped are answered `SERVER_ERROR out of memory storing object` if the rest"
                    + " comes after all",
            "A few clients that stop would hold all memory."),
    LONG_LINE(
            "A line of more than 2048 bytes that is not a `get`, such as a value whose length cannot be read",
            "is answered if it arrives in one piece, and ends the connection if it does not",
            "ends the connection",
            "The answer does not depend on how the network split the line.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return unit.text().lines().anyMatch(line -> line.length() > LONGEST_LINE)
                    && ours.endsWith(Talk.CLOSED)
                    && theirs.equals(ours.replace(Talk.CLOSED, "ERROR\r\n"));
        }
    },
    REFUSED_CHANGE(
            "`mg` or `ma` whose opaque is longer than 31 bytes; `get` or `gat` of several keys, one of which is too"
                    + " long",
            "is executed, or executed up to that key, and then refused",
            "is refused and changes nothing",
            "A client expects that a refused command did nothing."),
    MEMORY_BEHIND(
            "`incr`, `decr` and `ma` of a number of 2^63 and more, or of a value of blanks only",
            "read the memory behind the value, looking for a minus or a number",
            "read only the value",
            "What another item has left there is meaningless.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return (theirs.contains("Non-numeric server-side value")
                            || theirs.equals("CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"))
                    && LargeNumber.mayHaveBeenBefore(unit, ours);
        }

        @Override
        boolean endsComparison() {
            return true; // the number has changed in one of them
        }
    },
    BINARY_KEY(
            "That the key of an item came in base 64, when `mg` or `ma` creates the item, or `append`, `prepend` or a"
                    + " longer number replaces it",
            "is forgotten, and answers show the raw key",
            "is remembered",
            "The client would take a line end in the key for the end of the answer.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return theirs.equals(ENCODED_KEY
                    .matcher(ours)
                    .replaceAll(key -> Matcher.quoteReplacement(key.group(1) + decoded(key.group(2)))));
        }
    },
    VALUE_WITHOUT_PLACE(
            "A frame of the binary protocol with a value where its operation has none: `touch`, `gat`, `stat`",
            "is answered with `Not found` or not at all, and ends the connection",
            "is answered with `Invalid arguments`, and ends the connection",
            "The client learns why.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return theirs.endsWith(Talk.CLOSED) && ours.matches("(?s).* status 04 [^\n]*\n" + Talk.CLOSED);
        }
    },
    UNANSWERED_VERBOSITY(
            "`verbosity` of the binary protocol",
            "is not answered, nor are the requests after it",
            "is answered",
            "The protocol says so."),
    UNKNOWN_OPERATION(
            "An unknown opcode of the binary protocol, with extras or a key",
            "also swallows as many bytes of the next request",
            "is skipped together with its body",
            "The header says where the request ends."),
    LONGER_NUMBER(
            "`T` of an `ma` that makes a number longer",
            "is forgotten",
            "counts",
            "The answer told the client that the number has the new time."),
    NEWER_FLAGS(
            "Flag `E` (a cas number of the client's), lower-case modes, and `N` of an `ms` that appends or prepends",
            "are refused or have no effect",
            "work",
            "Later versions of memcached have them, and clients use them."),
    MGDUMP("`lru_crawler mgdump`", "is unknown", "works", "Later versions of memcached have it."),
    DELAYED_FLUSH(
            "An item stored in the same second as a delayed flush happens",
            "is lost",
            "stays",
            "It was stored after the flush."),
    REVIVED_ITEMS(
            "Items that a `flush_all` has removed, after another `flush_all` with a time",
            "come back, unless somebody has requested them in between",
            "stay gone",
            "No READ may find an item that was flushed."),
    FLUSHED_MEMORY(
            "`flush_all`",
            "keeps the items' memory until it is needed, still counts them in `curr_items`, and then in `reclaimed`",
            "frees the items before it answers, and counts them in `reclaimed`",
            "No READ may find an item that was flushed."),
    COUNTED_REWRITES(
            "`total_items`",
            "does not count `incr` and `decr`",
            "counts them",
            "A number is not changed in place, because READs could see it torn."),
    META_COMMANDS("`cmd_meta`", "counts only `me`", "counts all meta commands", "protocol.txt defines it so."),
    ITEM_SIZES(
            "Lengths of items (`me`, `metadump`, `stats sizes`, `mem_requested`), and with them slab classes",
            "include memcached's header",
            "include a header for READs",
            "Its fields tell readers whether an item is complete."),
    LONG_ITEMS(
            "An item of more than half a page (512 KB unless `-I` says more)",
            "is split into chunks of at most half a page (`slab_chunk_max`)",
            "takes a page, and what it leaves of that stays unused",
            "One READ gets an item only if it is in one piece."),
    EXPIRED_TTL(
            "Remaining seconds of an item just created with a negative time (`mg k N-1 t`), and `exp=` of `me`",
            "are a number that has wrapped around; the sign of `exp=` is inverted",
            "are 0; `exp=` is the remaining time",
            "memcached's numbers are of no use to a client."),
    WATCHED_LOOKUPS(
            "`watch fetchers`",
            "reports `expired` and `flushed` for items that no longer exist",
            "reports `not_found`",
            "Such an item is gone before anybody requests it."),
    WATCHED_SYSTEM(
            "`watch sysevents`",
            "shows crawls and page moves",
            "shows nothing",
            "Crawls and page moves are counted in `stats`."),
    TRACKED_SIZES(
            "`stats sizes`, when enabled",
            "counts items stored since it was enabled",
            "counts all items",
            "It scans the items on request, and costs nothing until then."),
    CRAWLER_BUSY(
            "`lru_crawler crawl` and `metadump` while another runs",
            "answer `BUSY`",
            "each answer separately",
            "They share no state.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return unit.text().contains("lru_crawler") && theirs.startsWith("BUSY");
        }
    },
    SETTINGS_OF_OTHERS(
            "`stats settings`: `ext_...`, `slab_automove_freeratio`",
            "are there",
            "are not",
            "There is no external storage.");

    private static final Pattern ENCODED_KEY = Pattern.compile(
            "((?<=\\S )k(?=\\S+ b)|^ME )((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)( b)?");

    private static final int LONGEST_LINE = 2048;

    /** After these the servers differ or may differ, whatever they answer. */
    private static final List<Pattern> AVOIDED = List.of(
            Pattern.compile("m[ga] .* O\\S{31,}.*", Pattern.DOTALL),
            Pattern.compile("(b?gets? +\\S+|gats? +\\S+ +\\S+) .*\\S{251}.*", Pattern.DOTALL),
            Pattern.compile("ma (?!.* M[D\\-]).* T.*", Pattern.DOTALL),
            Pattern.compile("ms (?=.* M[AP])(?=.* N).*", Pattern.DOTALL),
            Pattern.compile("(incr|decr) .*noreply.*", Pattern.DOTALL), // MEMORY_BEHIND would not show
            Pattern.compile("flush_all +(\\+?[1-9]).*", Pattern.DOTALL));

    private final String what;
    private final String memcached;
    private final String here;
    private final String reason;

    KnownDifference(String what, String memcached, String here, String reason) {
        this.what = what;
        this.memcached = memcached;
        this.here = here;
        this.reason = reason;
    }

    /**
     * True if two answers differ for this reason alone; never, where the dialects draw no request that would show it, or
     * leave out of answers what differs.
     */
    boolean covers(Unit unit, String theirs, String ours) {
        return false;
    }

    /** True if the servers hold something different from here on. */
    boolean endsComparison() {
        return false;
    }

    /** Why two answers may differ, if they may. */
    static Optional<KnownDifference> of(Unit unit, String theirs, String ours) {
        return Arrays.stream(values())
                .filter(each -> each.covers(unit, theirs, ours))
                .findFirst();
    }

    /** True if after this request the servers differ for a known reason, whatever they answer. */
    static boolean isAvoided(Unit unit) {
        return AVOIDED.stream()
                .anyMatch(each -> each.matcher(unit.text().strip()).matches());
    }

    private static String decoded(String key) {
        return new String(Base64.getDecoder().decode(key), StandardCharsets.ISO_8859_1);
    }

    /** A row of the table in the reference. */
    String row() {
        return "| " + what + " | " + memcached + " | " + here + " | " + reason + " |";
    }
}
