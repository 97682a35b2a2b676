package org.softrdma.kv.server.session;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.softrdma.kv.server.rdma.RdmaCounters;
import org.softrdma.kv.server.rdma.RdmaOffer;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.SizeClassStatistics;
import org.softrdma.kv.store.StoreStatistics;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The answers to {@code stats}: names and order as memcached 1.6 has them in its doc/protocol.txt, those that mean
 * something here. Any thread.
 */
public final class ServerStatistics {
    private static final int USER_TIME_FIELD = 11;
    private static final long TICKS_PER_SECOND = 100;

    private final KvService service;
    private final ServerCounters counters;
    private final ItemStore store;
    private final VerbsDevice device;
    private final RdmaOffer offer;
    private final RdmaCounters queuePairs;
    private final Maintenance maintenance;
    private final Consumer<StatLines> settings;
    private final long startSeconds;

    /**
     * The statistics of a server from now on.
     *
     * @param service what is counted
     * @param device what the device counts
     * @param offer what is counted about queue pairs
     * @param maintenance whether it is at work
     * @param settings adds the lines of {@code stats settings}
     */
    public ServerStatistics(
            KvService service,
            VerbsDevice device,
            RdmaOffer offer,
            Maintenance maintenance,
            Consumer<StatLines> settings) {
        this.service = service;
        this.settings = settings;
        this.counters = service.counters();
        this.store = service.store();
        this.device = device;
        this.offer = offer;
        this.queuePairs = offer.admission().service().counters();
        this.maintenance = maintenance;
        this.startSeconds = service.nowSeconds();
    }

    /** memcached's general statistics. */
    byte[] general() {
        StoreStatistics items = store.statistics();
        Events events = Events.of(store, service.nowSeconds());
        long now = service.nowSeconds();
        long hits = counters.getHits.sum() + queuePairs.rgetHits.sum() + queuePairs.getHits.sum();
        long misses = counters.getMisses.sum() + queuePairs.rgetMisses.sum();
        StatLines lines = new StatLines();
        lines.add("pid", ManagementFactory.getRuntimeMXBean().getPid());
        lines.add("uptime", now - startSeconds);
        lines.add("time", now);
        lines.add("version", service.settings().version());
        lines.add("pointer_size", Long.SIZE);
        addCpuTime(lines);
        lines.add("max_connections", service.settings().rules().maxConnections());
        lines.add("curr_connections", counters.currentConnections.get());
        lines.add("total_connections", counters.totalConnections.sum());
        lines.add("rejected_connections", counters.rejectedConnections.sum());
        lines.add("cmd_get", hits + misses);
        lines.add("cmd_set", counters.sets.sum());
        lines.add("cmd_flush", counters.flushes.sum());
        lines.add("cmd_touch", counters.touchHits.sum() + counters.touchMisses.sum());
        lines.add("cmd_meta", counters.metas.sum());
        lines.add("get_hits", hits);
        lines.add("get_misses", misses);
        lines.add("get_expired", items.expiredItems());
        lines.add("get_flushed", 0); // flushed items are gone, not found and skipped
        lines.add("delete_misses", counters.deleteMisses.sum());
        lines.add("delete_hits", counters.deleteHits.sum());
        lines.add("incr_misses", counters.incrMisses.sum());
        lines.add("incr_hits", counters.incrHits.sum());
        lines.add("decr_misses", counters.decrMisses.sum());
        lines.add("decr_hits", counters.decrHits.sum());
        lines.add("cas_misses", counters.casMisses.sum());
        lines.add("cas_hits", counters.casHits.sum());
        lines.add("cas_badval", counters.casBadValues.sum());
        lines.add("touch_hits", counters.touchHits.sum());
        lines.add("touch_misses", counters.touchMisses.sum());
        lines.add("store_too_large", counters.tooLarge.sum());
        lines.add("store_no_memory", counters.outOfMemory.sum());
        lines.add("bytes_read", counters.bytesRead.sum());
        lines.add("bytes_written", counters.bytesWritten.sum());
        lines.add("limit_maxbytes", items.memory().limit());
        lines.add("accepting_conns", 1);
        lines.add("auth_cmds", counters.authentications.sum());
        lines.add("auth_errors", counters.failedAuthentications.sum());
        lines.add("conn_yields", counters.yields.sum());
        lines.add("lru_crawler_running", maintenance.isCrawlAsked() ? 1 : 0);
        lines.add("idle_kicks", counters.idleKicks.sum());
        lines.add("threads", service.settings().port().threads());
        lines.add("hash_bytes", items.memory().indexBytes());
        lines.add("bytes", items.currentBytes());
        lines.add("curr_items", items.currentItems());
        lines.add("total_items", items.totalItems());
        lines.add("total_malloced", items.memory().pagedBytes());
        lines.add("expired_unfetched", events.expiredUnfetched);
        lines.add("evicted_unfetched", events.evictedUnfetched);
        lines.add("evictions", events.evicted);
        lines.add("reclaimed", events.reclaimed);
        lines.add("crawler_reclaimed", events.crawlerReclaimed);
        lines.add("lrutail_reflocked", events.tailLocked);
        lines.add("moves_to_cold", events.movesToCold);
        lines.add("moves_to_warm", events.movesToWarm);
        lines.add("moves_within_lru", events.movesWithin);
        return lines.end();
    }

    /** {@code stats settings}. */
    byte[] settings() {
        StatLines lines = new StatLines();
        settings.accept(lines);
        return lines.end();
    }

    /** {@code stats items}. */
    byte[] items() {
        StatLines lines = new StatLines();
        for (SizeClassStatistics each : store.classStatistics(service.nowSeconds())) {
            SizeClassStatistics.Lru lru = each.lru();
            if (lru.items() == 0 && each.events().evictions().items() == 0) {
                continue;
            }
            String prefix = "items:" + (each.sizeClass() + 1) + ":";
            lines.add(prefix + "number", lru.items());
            lines.add(prefix + "number_hot", lru.hot().items());
            lines.add(prefix + "number_warm", lru.warm().items());
            lines.add(prefix + "number_cold", lru.cold().items());
            lines.add(prefix + "age_hot", lru.hot().ageSeconds());
            lines.add(prefix + "age_warm", lru.warm().ageSeconds());
            lines.add(prefix + "age", lru.cold().ageSeconds());
            lines.add(prefix + "mem_requested", lru.requestedBytes());
            lines.add(prefix + "evicted", each.events().evictions().items());
            lines.add(prefix + "evicted_nonzero", each.events().evictions().nonzero());
            lines.add(prefix + "evicted_time", each.events().evictions().ageSeconds());
            lines.add(prefix + "outofmemory", each.events().outOfMemory());
            lines.add(prefix + "tailrepairs", 0);
            lines.add(prefix + "reclaimed", each.events().reclaimed());
            lines.add(prefix + "expired_unfetched", each.events().expiredUnfetched());
            lines.add(prefix + "evicted_unfetched", each.events().evictions().unfetched());
            lines.add(prefix + "crawler_reclaimed", each.events().crawlerReclaimed());
            lines.add(prefix + "lrutail_reflocked", each.events().tailLocked());
            lines.add(prefix + "moves_to_cold", lru.moves().toCold());
            lines.add(prefix + "moves_to_warm", lru.moves().toWarm());
            lines.add(prefix + "moves_within_lru", lru.moves().within());
        }
        return lines.end();
    }

    /** {@code stats slabs}. */
    byte[] slabs() {
        StatLines lines = new StatLines();
        int active = 0;
        for (SizeClassStatistics each : store.classStatistics(service.nowSeconds())) {
            SizeClassStatistics.Slab slab = each.slab();
            String prefix = (each.sizeClass() + 1) + ":";
            lines.add(prefix + "chunk_size", slab.chunkLength());
            lines.add(prefix + "chunks_per_page", slab.chunksPerPage());
            lines.add(prefix + "total_pages", slab.pages());
            lines.add(prefix + "total_chunks", (long) slab.pages() * slab.chunksPerPage());
            lines.add(prefix + "used_chunks", slab.usedChunks());
            lines.add(prefix + "free_chunks", slab.freeChunks() + slab.freshChunks());
            lines.add(prefix + "free_chunks_end", slab.freshChunks());
            active++;
        }
        lines.add("active_slabs", active);
        lines.add("total_malloced", store.statistics().memory().pagedBytes());
        return lines.end();
    }

    /** {@code stats sizes}: as memcached without -o track_sizes. */
    byte[] sizes() {
        StatLines lines = new StatLines();
        lines.add("sizes_status", "disabled");
        return lines.end();
    }

    /** What the RDMA port and the device count; what peers READ is counted by the device, who serves them. */
    byte[] rdma() {
        StatLines lines = new StatLines();
        lines.add("device", device.name().replace(' ', '_'));
        lines.add("registration", offer.registration());
        lines.add("pinning", device.pinning().replace(' ', '_'));
        lines.add("item_regions", offer.itemRegions());
        lines.add("queue_pairs", queuePairs.boundQueuePairs.get());
        lines.add("rejected_queue_pairs", queuePairs.rejectedQueuePairs.sum());
        lines.add("stalled_queue_pairs", queuePairs.stalledQueuePairs.sum());
        lines.add("wrong_keys", queuePairs.wrongKeys.sum());
        lines.add("paused_peers", offer.admission().wrongKeys().paused(service.nowNs()));
        lines.add("paused_hellos", queuePairs.pausedHellos.sum());
        lines.add("rget_hits", queuePairs.rgetHits.sum());
        lines.add("rget_misses", queuePairs.rgetMisses.sum());
        lines.add("rdma_get_hits", queuePairs.getHits.sum());
        lines.add("rdma_touch_reports", queuePairs.touchReports.sum());
        lines.add("rdma_hits_refused", queuePairs.hitsRefused.sum());
        lines.add("rdma_touches_refused", queuePairs.touchesRefused.sum());
        for (Map.Entry<String, Long> counter : new TreeMap<>(device.counters()).entrySet()) {
            lines.add("device_" + counter.getKey(), counter.getValue());
        }
        return lines.end();
    }

    /** {@code stats reset}: what the device counts stays. */
    void reset() {
        counters.reset();
        queuePairs.reset();
        service.prefixes().reset();
        store.resetStatistics();
    }

    /** From proc(5) stat, in seconds and microseconds as getrusage gives them; left out where there is no /proc. */
    private static void addCpuTime(StatLines lines) {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            lines.add("rusage_user", seconds(fields[USER_TIME_FIELD]));
            lines.add("rusage_system", seconds(fields[USER_TIME_FIELD + 1]));
        } catch (IOException e) {
            // not Linux: no such lines
        }
    }

    private static String seconds(String ticks) {
        long value = Long.parseLong(ticks);
        return String.format(
                Locale.ROOT,
                "%d.%06d",
                value / TICKS_PER_SECOND,
                value % TICKS_PER_SECOND * 1_000_000 / TICKS_PER_SECOND);
    }

    /** The counters of all classes together. */
    private static final class Events {
        long evicted;
        long evictedUnfetched;
        long expiredUnfetched;
        long reclaimed;
        long crawlerReclaimed;
        long tailLocked;
        long movesToCold;
        long movesToWarm;
        long movesWithin;

        static Events of(ItemStore store, long nowSeconds) {
            Events sum = new Events();
            for (SizeClassStatistics each : store.classStatistics(nowSeconds)) {
                sum.evicted += each.events().evictions().items();
                sum.evictedUnfetched += each.events().evictions().unfetched();
                sum.expiredUnfetched += each.events().expiredUnfetched();
                sum.reclaimed += each.events().reclaimed();
                sum.crawlerReclaimed += each.events().crawlerReclaimed();
                sum.tailLocked += each.events().tailLocked();
                sum.movesToCold += each.lru().moves().toCold();
                sum.movesToWarm += each.lru().moves().toWarm();
                sum.movesWithin += each.lru().moves().within();
            }
            return sum;
        }
    }
}
