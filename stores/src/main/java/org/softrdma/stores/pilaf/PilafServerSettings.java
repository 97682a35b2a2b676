package org.softrdma.stores.pilaf;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.softrdma.stores.StoreOptions;
import org.softrdma.stores.StoreServerContext;

/**
 * Settings of a server of Pilaf. Immutable.
 *
 * @param logEntries log2 of the entries that it begins with
 * @param mostLogEntries log2 of the entries that it may grow to
 * @param logExtents log2 of the bytes of extents that it begins with
 * @param mostLogExtents log2 of the bytes of extents that it may grow to
 * @param fingerprints entries carry fingerprints
 * @param sync when changes are on the disk
 * @param directory of the log
 */
record PilafServerSettings(
        int logEntries,
        int mostLogEntries,
        int logExtents,
        int mostLogExtents,
        boolean fingerprints,
        PilafLog.Sync sync,
        Path directory) {
    private static final int MOST_LOG_EXTENTS = 30;
    private static final int LEAST_LOG_EXTENTS = 6;
    private static final int USUAL_LOG_ENTRIES = 15;
    private static final int USUAL_LOG_EXTENTS = 26;

    static Map<String, String> known() {
        Map<String, String> known = new LinkedHashMap<>();
        known.put("entries", "log2 of the entries at the beginning; default 15");
        known.put("most-entries", "log2 of the entries it may grow to; default 24");
        known.put("extents", "log2 of the bytes of extents at the beginning; default 26");
        known.put("most-extents", "log2 of the bytes of extents it may grow to; default 30");
        known.put("fingerprints", "on or off: 16 bits of each key in its entry; default off");
        known.put("log", "off, async or fsync: whether changes outlive the process, the machine; default off");
        known.put("directory", "where the log is; default .");
        return known;
    }

    static PilafServerSettings of(StoreServerContext context) {
        StoreOptions options = new StoreOptions(context.options(), known());
        long logEntries = options.number("entries", USUAL_LOG_ENTRIES, 0, PilafHash.MOST_LOG_ENTRIES);
        long logExtents = options.number("extents", USUAL_LOG_EXTENTS, LEAST_LOG_EXTENTS, MOST_LOG_EXTENTS);
        return new PilafServerSettings(
                (int) logEntries,
                (int) options.number(
                        "most-entries", PilafHash.MOST_LOG_ENTRIES, logEntries, PilafHash.MOST_LOG_ENTRIES),
                (int) logExtents,
                (int) options.number("most-extents", MOST_LOG_EXTENTS, logExtents, MOST_LOG_EXTENTS),
                options.isOn("fingerprints", false),
                options.choice("log", PilafLog.Sync.OFF),
                Path.of(options.text("directory", ".")));
    }
}
