package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What the systems of some results are, for people who have not read the papers. Stateless. */
final class SystemTexts {
    private static final Map<String, String> DESIGNS = Map.of(
            "pilaf",
            "A client finds a pair by READs: of a table, and then of the pair, two for each place it looks at. Changes are"
                    + " messages.",
            "pilaf-vo",
            "The same store, with GETs by messages too.",
            "herd",
            "As herd-rc, by unreliable transports, as it was published: WRITEs that may be lost, and datagrams for answers.",
            "herd-rc",
            "A client WRITEs its request into the server's memory, which the server watches, and the answer is a SEND. The"
                    + " server forgets pairs when it is full.",
            "nessie",
            "A client does everything itself: READs, and atomic exchanges of words of a table.",
            "nessie-sd",
            "Nessie's tables, with the server in charge: a request is a WRITE into memory that it watches, the answer a WRITE into"
                    + " memory that the client watches.",
            "farm",
            "One READ brings two buckets of a table, in which the pair nearly always is; large values take another one."
                    + " Changes are messages by WRITE.");

    private SystemTexts() {}

    /** The systems, each with {@code name} and {@code text}. */
    static List<Map<String, String>> of(CompareResults results) {
        List<Map<String, String>> list = new ArrayList<>();
        for (CompareResults.DesignPromises design : results.promises()) {
            String text = DESIGNS.getOrDefault(design.design(), "");
            add(list, design.design(), text.isEmpty() ? design.paper() : text + " (" + design.paper() + ")");
        }
        if (has(results, SystemKind.KV_READ)) {
            add(
                    list,
                    "kv",
                    "This project's memcached: clients remember where an item is, and get it by one READ. kv-chunk registers"
                            + " each chunk of memory by itself. A PUT goes over memcached's protocol.");
        }
        if (has(results, SystemKind.KV_TCP)) {
            add(list, "kv-tcp", "The same server, by memcached's protocol alone.");
        }
        return list;
    }

    private static boolean has(CompareResults results, SystemKind kind) {
        return results.rows().stream().anyMatch(row -> row.kind() == kind);
    }

    private static void add(List<Map<String, String>> list, String name, String text) {
        list.add(Map.of("name", name, "text", text));
    }
}
