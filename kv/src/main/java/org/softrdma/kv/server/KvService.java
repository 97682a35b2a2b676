package org.softrdma.kv.server;

import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.memcached.Expiry;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.NewItem;
import org.softrdma.verbs.VerbsException;

/** What all connections and queue pairs of a server share: the store, the clocks, the counters, the settings. Any thread. */
final class KvService {
    private static final Logger LOG = LoggerFactory.getLogger(KvService.class);

    private final KvServerContext context;
    private final ItemStore store;
    private final ServerCounters counters = new ServerCounters();
    private final OutputBudget outputBudget = new OutputBudget();
    private final PrefixStatistics prefixes = new PrefixStatistics();
    private final LongSupplier clockSeconds;
    private final NanoClock nanoClock;
    private final byte[] versionLine;
    private volatile long verbosity;

    KvService(KvServerContext context, ItemStore store) {
        this.context = context;
        this.store = store;
        this.clockSeconds = context.surroundings().clockSeconds();
        this.nanoClock = context.surroundings().nanoClock();
        this.versionLine = TextProtocol.line("VERSION " + context.version());
        this.verbosity = context.verbosity();
    }

    KvServerContext context() {
        return context;
    }

    ItemStore store() {
        return store;
    }

    ServerCounters counters() {
        return counters;
    }

    OutputBudget outputBudget() {
        return outputBudget;
    }

    PrefixStatistics prefixes() {
        return prefixes;
    }

    byte[] versionLine() {
        return versionLine;
    }

    long verbosity() {
        return verbosity;
    }

    void verbosity(long level) {
        verbosity = level;
    }

    /** The clock by which items expire. */
    long nowSeconds() {
        return clockSeconds.getAsLong();
    }

    /** The clock of limits. */
    long nowNs() {
        return nanoClock.nanoTime();
    }

    /** The time on the server's clock that an exptime means. */
    int expiry(int exptime, long nowSeconds) {
        return Expiry.toAbsolute(exptime, nowSeconds, context.surroundings().wallSeconds());
    }

    /** Takes memory for an item; a device that gives no further arena is out of memory. */
    NewItem reserve(byte[] key, int keyOffset, int keyLength, int flags, int expiry, int valueLength, long nowSeconds) {
        try {
            return store.reserve(key, keyOffset, keyLength, flags, expiry, valueLength, nowSeconds);
        } catch (VerbsException e) {
            LOG.error("the device gives no further arena: {}", e.getMessage());
            return NewItem.outOfMemory();
        }
    }

    /** A thread has met an Error, or has ended: what it served is served no more, and the owner is to know. */
    void fail(Throwable cause) {
        context.fatalErrors().accept(cause);
    }
}
