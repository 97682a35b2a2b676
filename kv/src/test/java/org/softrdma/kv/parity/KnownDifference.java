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
            "Whoever may choose a value could choose commands.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return unit.value()
                    && theirs.startsWith(ours)
                    && theirs.substring(ours.length()).matches("(ERROR\r\n)+")
                    && (!ours.isEmpty() || unit.text().contains("noreply"));
        }
    },
    LONG_LINE(
            "A line of more than 2048 bytes that is no `get`, such as a value whose length cannot be read",
            "is answered if it arrives in one piece, and ends the connection if it does not",
            "ends the connection",
            "The answer does not depend on how the network cut the line.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return unit.text().lines().anyMatch(line -> line.length() > LONGEST_LINE)
                    && ours.endsWith(Talk.CLOSED)
                    && theirs.equals(ours.replace(Talk.CLOSED, "ERROR\r\n"));
        }
    },
    REFUSED_CHANGE(
            "`mg` or `ma` whose opaque is longer than 31 bytes; `get` or `gat` of several keys, one of which is too long",
            "is carried out, or up to that key, then refused",
            "is refused, and changes nothing",
            "A client takes a refusal for one."),
    MEMORY_BEHIND(
            "`incr`, `decr` and `ma` of a number of 2^63 and more, or of a value of blanks alone",
            "look at the memory behind the value: for a minus, or for a number",
            "look at the value alone",
            "What another item has left there means nothing."),
    BINARY_KEY(
            "That the key of an item came in base 64, when `mg` or `ma` creates the item, or `append`, `prepend` or a"
                    + " longer number replaces it",
            "is forgotten, and the key is told as it is",
            "is kept",
            "A key with a line end in it would be taken for the next answer.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return theirs.equals(ENCODED_KEY
                    .matcher(ours)
                    .replaceAll(key -> Matcher.quoteReplacement(key.group(1) + decoded(key.group(2)))));
        }
    },
    VALUE_WITHOUT_PLACE(
            "A frame of the binary protocol with a value where its operation has none: `touch`, `gat`, `stat`",
            "is answered by `Not found` or by nothing, and ends the connection",
            "is answered by `Invalid arguments`, and ends the connection",
            "The client learns why.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return theirs.endsWith(Talk.CLOSED) && ours.matches("(?s).* status 04 [^\n]*\n" + Talk.CLOSED);
        }
    },
    UNANSWERED_VERBOSITY(
            "`verbosity` of the binary protocol",
            "is not answered, nor is what follows it",
            "is answered",
            "The protocol says so."),
    UNKNOWN_OPERATION(
            "An unknown opcode of the binary protocol, with extras or a key",
            "takes as many bytes of the next request with it",
            "is skipped, with its body and no more",
            "The header says where a request ends."),
    LONGER_NUMBER(
            "`T` of an `ma` that makes a number longer",
            "is forgotten",
            "counts",
            "The client was told that the number has the new time."),
    NEWER_FLAGS(
            "Flag `E` (a cas number of the client's), lower-case modes, and `N` of an `ms` that appends or prepends",
            "are refused, or without effect",
            "work",
            "memcached has them since; clients that know them ask for them."),
    MGDUMP("`lru_crawler mgdump`", "is unknown", "works", "memcached has it since."),
    DELAYED_FLUSH(
            "An item stored in the very second in which a delayed flush comes",
            "is lost",
            "stays",
            "It was stored after the flush."),
    REVIVED_ITEMS(
            "Items that a `flush_all` has removed, after another `flush_all` with a time",
            "come back, unless somebody has asked for them in between",
            "stay gone",
            "No READ may find an item that was flushed."),
    FLUSHED_MEMORY(
            "`flush_all`",
            "keeps the memory of the items until it is needed, and counts them in `curr_items`",
            "frees the items before it answers",
            "No READ may find an item that was flushed."),
    COUNTED_REWRITES(
            "`total_items`",
            "does not count `incr` and `decr`",
            "counts them",
            "A number is not changed in place: READs would find halves of it."),
    META_COMMANDS(
            "`cmd_meta`", "counts `me` alone", "counts all meta commands", "That is what protocol.txt says of it."),
    ITEM_SIZES(
            "Lengths of items (`me`, `metadump`, `stats sizes`, `mem_requested`), and with them slab classes",
            "have memcached's header",
            "have a header for READs",
            "Its fields tell readers whether an item is whole."),
    EXPIRED_TTL(
            "Seconds left of an item that has just been created with a negative time (`mg k N-1 t`), and `exp=` of `me`",
            "are a number that has turned over; the sign of `exp=` is the wrong way round",
            "are 0; `exp=` is what is left",
            "A client cannot use the other number."),
    WATCHED_LOOKUPS(
            "`watch fetchers`",
            "says `expired` and `flushed` of items that are there no more",
            "says `not_found`",
            "Such an item is gone before anybody asks."),
    WATCHED_SYSTEM(
            "`watch sysevents`",
            "shows crawls and moves of pages",
            "shows nothing",
            "Pages do not move, and crawls are counted in `stats`."),
    TRACKED_SIZES(
            "`stats sizes`, where it is on",
            "counts items that were stored since",
            "counts all items",
            "It looks at the items when asked, and costs nothing before."),
    PAGE_MOVER(
            "`slabs reassign` and `slabs automove` with other levels than 0",
            "move pages between slab classes",
            "are refused",
            "A page stays with its class, so that generations in chunk headers stay where they are.") {
        @Override
        boolean covers(Unit unit, String theirs, String ours) {
            return unit.text().contains("slabs ") && ours.equals("CLIENT_ERROR slab reassignment disabled\r\n");
        }
    },
    CRAWLER_BUSY(
            "`lru_crawler crawl` and `metadump` while another runs",
            "answer `BUSY`",
            "answer, each for itself",
            "Nothing is shared between them.") {
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

    /** After these the servers differ, whatever they answer. */
    private static final List<Pattern> AVOIDED = List.of(
            Pattern.compile("m[ga] .* O\\S{31,}.*", Pattern.DOTALL),
            Pattern.compile("(b?gets? +\\S+|gats? +\\S+ +\\S+) .*\\S{251}.*", Pattern.DOTALL),
            Pattern.compile("ma (?!.* M[D\\-]).* T.*", Pattern.DOTALL),
            Pattern.compile("ms (?=.* M[AP])(?=.* N).*", Pattern.DOTALL),
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
