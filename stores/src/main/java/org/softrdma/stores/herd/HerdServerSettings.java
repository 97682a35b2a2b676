package org.softrdma.stores.herd;

import java.util.LinkedHashMap;
import java.util.Map;
import org.softrdma.stores.StoreOptions;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.mica.MicaTable;
import org.softrdma.stores.herd.wire.HerdShape;

/**
 * Settings of a server of HERD. Immutable.
 *
 * @param workers parts of the keys
 * @param logBuckets log2 of the buckets of each worker's index
 * @param logCapacity log2 of the bytes of each worker's log
 */
record HerdServerSettings(int workers, int logBuckets, int logCapacity) {
    private static final int USUAL_WORKERS = 2;
    private static final int USUAL_LOG_BUCKETS = 14;
    private static final int USUAL_LOG_CAPACITY = 26;
    private static final int LEAST_LOG_CAPACITY = 6;
    private static final int MOST_LOG_CAPACITY = 30;

    static Map<String, String> known() {
        Map<String, String> known = new LinkedHashMap<>();
        known.put(
                "workers",
                "workers, each with a part of the keys, an index, a log, and a thread of its own if the device has threads; default 2");
        known.put("buckets", "log2 of the buckets of each worker's index, of eight pairs; default 14");
        known.put("log", "log2 of the bytes of each worker's log; default 26");
        return known;
    }

    static HerdServerSettings of(StoreServerContext context) {
        StoreOptions options = new StoreOptions(context.options(), known());
        HerdServerSettings settings = new HerdServerSettings(
                (int) options.number("workers", USUAL_WORKERS, 1, HerdShape.MOST_WORKERS),
                (int) options.number("buckets", USUAL_LOG_BUCKETS, 0, MicaTable.MOST_LOG_BUCKETS),
                (int) options.number("log", USUAL_LOG_CAPACITY, LEAST_LOG_CAPACITY, MOST_LOG_CAPACITY));
        int longest = MicaTable.length(context.maxKeyLength(), context.maxValueLength());
        if (longest > 1 << settings.logCapacity) {
            throw new IllegalArgumentException("log=" + settings.logCapacity + ": a pair may take " + longest
                    + " bytes; expected at least "
                    + (Integer.SIZE - Integer.numberOfLeadingZeros(longest - 1)));
        }
        return settings;
    }
}
