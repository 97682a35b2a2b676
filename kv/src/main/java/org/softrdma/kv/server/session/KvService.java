package org.softrdma.kv.server.session;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.memcached.Expiry;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.NewItem;
import org.softrdma.verbs.VerbsException;

/** What all sessions of a server share: the store, the clocks, the counters, the settings. Any thread. */
public final class KvService {
    private static final Logger LOG = LoggerFactory.getLogger(KvService.class);

    private final ItemStore store;
    private final ServiceSettings settings;
    private final ServiceClocks clocks;
    private final ServerCounters counters = new ServerCounters();
    private final OutputBudget outputBudget;
    private final PrefixStatistics prefixes = new PrefixStatistics();
    private final byte[] versionLine;
    private volatile long verbosity;

    /**
     * A service of a store.
     *
     * @param bufferBytes that the buffers of all connections may take
     */
    public KvService(ItemStore store, ServiceSettings settings, ServiceClocks clocks, long bufferBytes) {
        this.store = store;
        this.settings = settings;
        this.clocks = clocks;
        this.outputBudget = new OutputBudget(bufferBytes);
        this.versionLine = TextProtocol.line("VERSION " + settings.version());
    }

    ServiceSettings settings() {
        return settings;
    }

    /** The items. */
    public ItemStore store() {
        return store;
    }

    /** What is counted about connections and commands. */
    public ServerCounters counters() {
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

    /** The level of verbosity that clients see. */
    public long verbosity() {
        return verbosity;
    }

    /** Sets the level of verbosity that clients see. */
    public void verbosity(long level) {
        verbosity = level;
    }

    /** The clock by which items expire. */
    public long nowSeconds() {
        return clocks.clockSeconds().getAsLong();
    }

    /** The clock of limits. */
    long nowNs() {
        return clocks.nanoClock().nanoTime();
    }

    /** The time on the server's clock that an exptime means. */
    int expiry(int exptime, long nowSeconds) {
        return Expiry.toAbsolute(exptime, nowSeconds, clocks.wallSeconds());
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

    /** Tells the owner that a thread has met an Error or has ended, and no longer serves what it served. */
    public void fail(Throwable cause) {
        settings.owner().fatalErrors().accept(cause);
    }
}
