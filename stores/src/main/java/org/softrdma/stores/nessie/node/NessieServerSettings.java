package org.softrdma.stores.nessie.node;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreOptions;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.nessie.layout.NessieShape;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;

/**
 * Settings of a node.
 *
 * @param shape of the store
 * @param node its number
 */
public record NessieServerSettings(NessieShape shape, int node) {
    private static final int USUAL_LOG = 15;
    private static final int USUAL_WAYS = 3;
    private static final int USUAL_FILTER_BITS = 7;
    private static final int USUAL_REUSE_MS = 1000;
    private static final int MOST_REUSE_MS = 3_600_000;

    /** Their names, each with a sentence. */
    public static Map<String, String> known() {
        Map<String, String> known = new LinkedHashMap<>();
        known.put("index", "log2 of the words of the index table; default 15");
        known.put("entries", "log2 of the entries of the data table; default 15");
        known.put("ways", "slots of a key, 2 to 4; default 3");
        known.put("filter", "bits of the key's hash in each word, 0 to 11; default 7");
        known.put("nodes", "servers of the store; default 1");
        known.put("node", "which of them this is, from 0; default 0");
        known.put("reuse-ms", "how long an entry rests before it is used again; default 1000");
        return known;
    }

    static NessieServerSettings of(StoreServerContext context) {
        StoreOptions options = new StoreOptions(context.options(), known());
        int filterBits = (int) options.number("filter", USUAL_FILTER_BITS, 0, NessieWordDescriptor.MOST_FILTER_BITS);
        int nodes = (int) options.number("nodes", 1, 1, NessieShape.mostNodes(filterBits));
        int ways = (int) options.number("ways", USUAL_WAYS, NessieShape.LEAST_WAYS, NessieShape.MOST_WAYS);
        NessieShape shape = new NessieShape(
                nodes,
                (int) options.number("index", USUAL_LOG, ways - 1, NessieShape.MOST_LOG),
                (int) options.number("entries", USUAL_LOG, 1, NessieShape.MOST_LOG),
                ways,
                filterBits,
                context.protocol() == Protocol.SAFE,
                context.maxKeyLength(),
                context.maxValueLength(),
                TimeUnit.MILLISECONDS.toNanos(options.number("reuse-ms", USUAL_REUSE_MS, 0, MOST_REUSE_MS)));
        if (!shape.isValid()) {
            throw new IllegalArgumentException(shape + ": the tables of all nodes are too large");
        }
        return new NessieServerSettings(shape, (int) options.number("node", 0, 0, nodes - 1));
    }
}
