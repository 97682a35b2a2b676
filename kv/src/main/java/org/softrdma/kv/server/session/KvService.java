package org.softrdma.kv.server.session;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.memcached.Expiry;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.watch.WatchLog;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.NewItem;
import org.softrdma.verbs.VerbsException;

/** What all sessions of a server share: the store, the clocks, the counters, the settings. Any thread. */
public final class KvService {
    private static final Logger LOG = LoggerFactory.getLogger(KvService.class);

    private static final int MOST_VERBOSITY = 2;

    private final ItemStore store;
    private final ServiceSettings settings;
    private final ServiceClocks clocks;
    private final ServerCounters counters = new ServerCounters();
    private final OutputBudget outputBudget;
    private final PrefixStatistics prefixes;
    private final WatchLog watchLog;
    private final AtomicBoolean sizesTracked;
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
        this.prefixes = new PrefixStatistics(settings.diagnosis().prefixDelimiter());
        this.prefixes.counting(settings.diagnosis().prefixesCounted());
        this.sizesTracked = new AtomicBoolean(settings.diagnosis().sizesTracked());
        this.watchLog =
                new WatchLog(microsSince1970(clocks), settings.diagnosis().watcherBufferBytes());
        store.onEviction(item -> {
            if (watchLog.wants(WatchLog.EVICTIONS)) {
                watchLog.evicted(item, nowSeconds());
            }
        });
        this.versionLine = TextProtocol.line("VERSION " + settings.version());
    }

    /** The wall clock at the start, and what has passed since: the events of a connection never go back in time. */
    private static LongSupplier microsSince1970(ServiceClocks clocks) {
        long startMicros = TimeUnit.SECONDS.toMicros(clocks.wallSeconds().getAsLong());
        long startNs = clocks.nanoClock().nanoTime();
        return () ->
                startMicros + TimeUnit.NANOSECONDS.toMicros(clocks.nanoClock().nanoTime() - startNs);
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

    /** What clients watch. */
    WatchLog watchLog() {
        return watchLog;
    }

    /** Whether {@code stats sizes} answers. */
    public AtomicBoolean sizesTracked() {
        return sizesTracked;
    }

    byte[] versionLine() {
        return versionLine;
    }

    /** True if it counts by prefixes now. */
    public boolean countsPrefixes() {
        return prefixes.isCounting();
    }

    /** The level of verbosity that clients see. */
    public long verbosity() {
        return verbosity;
    }

    /** Sets the level of verbosity that clients see; like memcached, none above 2. */
    public void verbosity(long level) {
        verbosity = Math.min(level, MOST_VERBOSITY);
    }

    /** The clock by which items expire. */
    public long nowSeconds() {
        return clocks.clockSeconds().getAsLong();
    }

    /** The clock of limits. */
    public NanoClock nanoClock() {
        return clocks.nanoClock();
    }

    /** The clock of limits, now. */
    long nowNs() {
        return clocks.nanoClock().nanoTime();
    }

    /** The time on the server's clock that an exptime means. */
    int expiry(long exptime, long nowSeconds) {
        return Expiry.toAbsolute(exptime, nowSeconds, clocks.wallSeconds());
    }

    /** Takes memory for an item; a device that gives no further arena is out of memory. */
    NewItem reserve(KeySlice key, int flags, int expiry, int valueLength, long nowSeconds) {
        try {
            return store.reserve(key, flags, expiry, valueLength, nowSeconds);
        } catch (VerbsException e) {
            LOG.error("the device cannot provide another arena: {}", e.getMessage());
            return NewItem.outOfMemory();
        }
    }

    /** Tells the owner that a thread has met an Error or has ended, and no longer serves what it served. */
    public void fail(Throwable cause) {
        settings.owner().fatalErrors().accept(cause);
    }
}
