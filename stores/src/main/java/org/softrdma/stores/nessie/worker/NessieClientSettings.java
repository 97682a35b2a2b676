package org.softrdma.stores.nessie.worker;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreOptions;
import org.softrdma.stores.nessie.layout.NessieMessageDescriptor;

/**
 * Settings of a worker.
 *
 * @param home the node whose data table takes what it puts
 * @param cache entries that it keeps a copy of
 * @param stock free entries that it holds, so that it can put without the node's application
 * @param patienceNs how long a pending entry is left to its worker before another one finishes it
 * @param safe SAFE, or as published
 */
public record NessieClientSettings(int home, int cache, int stock, long patienceNs, boolean safe) {
    private static final int USUAL_CACHE = 256;
    private static final int MOST_CACHE = 1 << 20;
    private static final int USUAL_STOCK = 256;
    private static final int USUAL_PATIENCE_MS = 100;
    private static final int MOST_PATIENCE_MS = 3_600_000;

    /** Their names, each with a sentence. */
    public static Map<String, String> known() {
        Map<String, String> known = new LinkedHashMap<>();
        known.put("home", "the server whose memory takes what the client puts, from 0; default 0");
        known.put("cache", "entries that the client keeps a copy of; default 256");
        known.put("stock", "free entries that the client holds, so that it can put without the server; default 256");
        known.put("patience-ms", "how long others wait for a PUT that has begun before they finish it; default 100");
        return known;
    }

    static NessieClientSettings of(StoreClientContext context) {
        StoreOptions options = new StoreOptions(context.options(), known());
        return new NessieClientSettings(
                (int) options.number("home", 0, 0, context.servers().size() - 1),
                (int) options.number("cache", USUAL_CACHE, 0, MOST_CACHE),
                (int) options.number("stock", USUAL_STOCK, 1, NessieMessageDescriptor.MOST_GIVEN),
                TimeUnit.MILLISECONDS.toNanos(options.number("patience-ms", USUAL_PATIENCE_MS, 0, MOST_PATIENCE_MS)),
                context.protocol() == Protocol.SAFE);
    }
}
