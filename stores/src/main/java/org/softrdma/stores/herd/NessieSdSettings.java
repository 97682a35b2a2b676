package org.softrdma.stores.herd;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.softrdma.stores.StoreOptions;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.sd.NessieSdTable;
import org.softrdma.stores.herd.wire.HerdShape;

/**
 * Settings of a server of NessieSD. Immutable.
 *
 * @param workers parts of the keys
 * @param logIndex log2 of the words of each worker's index table
 * @param logEntries log2 of the entries of each worker's data table
 * @param ways words of a key
 */
record NessieSdSettings(int workers, int logIndex, int logEntries, int ways) {
    private static final int USUAL_WORKERS = 2;
    private static final int USUAL_LOG = 14;
    private static final int USUAL_WAYS = 3;
    private static final int LEAST_WAYS = 2;
    private static final int MOST_WAYS = 4;

    static Map<String, String> known() {
        Map<String, String> known = new LinkedHashMap<>();
        known.put(
                "workers",
                "workers, each with a part of the keys, tables, and a thread of its own if the device has threads; default 2");
        known.put("index", "log2 of the words of each worker's index table; default 14");
        known.put("entries", "log2 of the entries of each worker's data table; default 14");
        known.put("ways", "words of a key, 2 to 4; default 3");
        return known;
    }

    static NessieSdSettings of(StoreServerContext context) {
        StoreOptions options = new StoreOptions(context.options(), known());
        int ways = (int) options.number("ways", USUAL_WAYS, LEAST_WAYS, MOST_WAYS);
        return new NessieSdSettings(
                (int) options.number("workers", USUAL_WORKERS, 1, HerdShape.MOST_WORKERS),
                (int) options.number("index", USUAL_LOG, ways - 1, NessieSdTable.MOST_LOG),
                (int) options.number("entries", USUAL_LOG, 1, NessieSdTable.MOST_LOG),
                ways);
    }

    /** Tables of the workers. */
    List<NessieSdTable> tables(StoreServerContext context) {
        List<NessieSdTable> tables = new ArrayList<>();
        for (int worker = 0; worker < workers; worker++) {
            tables.add(new NessieSdTable(logIndex, logEntries, ways, context.maxKeyLength(), context.maxValueLength()));
        }
        return tables;
    }
}
