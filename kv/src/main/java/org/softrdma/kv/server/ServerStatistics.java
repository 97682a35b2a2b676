package org.softrdma.kv.server;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.SizeClassStatistics;
import org.softrdma.kv.store.StoreStatistics;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The answers to {@code stats}: names and order as memcached 1.6 has them in its doc/protocol.txt, those that mean something
 * here. Any thread.
 */
final class ServerStatistics {
    private static final int USER_TIME_FIELD = 11;
    private static final long TICKS_PER_SECOND = 100;

    private final KvServer server;
    private final KvServerContext context;
    private final ServerCounters counters;
    private final ItemStore store;
    private final VerbsDevice device;
    private final long startSeconds;

    ServerStatistics(
            KvServer server, KvServerContext context, ServerCounters counters, ItemStore store, VerbsDevice device) {
        this.server = server;
        this.context = context;
        this.counters = counters;
        this.store = store;
        this.device = device;
        this.startSeconds = context.clockSeconds().getAsLong();
    }

    /** memcached's general statistics. */
    byte[] general() {
        StoreStatistics items = store.statistics();
        Events events = Events.of(store, context.clockSeconds().getAsLong());
        long now = context.clockSeconds().getAsLong();
        long hits = counters.getHits.sum() + counters.rgetHits.sum() + counters.rdmaGetHits.sum();
        long misses = counters.getMisses.sum() + counters.rgetMisses.sum();
        Lines lines = new Lines();
        lines.add("pid", ManagementFactory.getRuntimeMXBean().getPid());
        lines.add("uptime", now - startSeconds);
        lines.add("time", now);
        lines.add("version", context.version());
        lines.add("pointer_size", Long.SIZE);
        addCpuTime(lines);
        lines.add("max_connections", context.maxConnections());
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
        lines.add("limit_maxbytes", items.memoryLimit());
        lines.add("accepting_conns", 1);
        lines.add("auth_cmds", counters.authentications.sum());
        lines.add("auth_errors", counters.failedAuthentications.sum());
        lines.add("conn_yields", counters.yields.sum());
        lines.add("lru_crawler_running", server.maintenance().isCrawlAsked() ? 1 : 0);
        lines.add("idle_kicks", counters.idleKicks.sum());
        lines.add("threads", context.threads());
        lines.add("hash_bytes", items.indexBytes());
        lines.add("bytes", items.currentBytes());
        lines.add("curr_items", items.currentItems());
        lines.add("total_items", items.totalItems());
        lines.add("total_malloced", items.pagedBytes());
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
        Path socket = context.unixSocket();
        Lines lines = new Lines();
        lines.add("maxbytes", store.statistics().memoryLimit());
        lines.add("maxconns", context.maxConnections());
        lines.add("tcpport", socket == null ? server.memcachedAddress().getPort() : 0);
        lines.add("udpport", 0);
        lines.add("inter", socket == null ? context.memcachedAddress().getHostString() : "NULL");
        lines.add("verbosity", server.verbosity());
        lines.add("evictions", onOff(context.evicting()));
        lines.add("domain_socket", socket == null ? "NULL" : socket);
        lines.add("umask", Integer.toOctalString(context.unixSocketMask()));
        lines.add("shutdown_command", yesNo(context.shutdown() != null));
        lines.add("growth_factor", String.format(Locale.ROOT, "%.2f", context.slabFactor()));
        lines.add("chunk_size", context.minimumSpace());
        lines.add("num_threads", context.threads());
        lines.add("cas_enabled", "yes");
        lines.add("tcp_backlog", context.backlog());
        lines.add("binding_protocol", "ascii");
        lines.add("auth_enabled_sasl", "no");
        lines.add("auth_enabled_ascii", yesNo(context.passwords() != null));
        lines.add("item_size_max", context.maxItemLength());
        lines.add("maxconns_fast", "yes");
        lines.add("slab_reassign", "no");
        lines.add("slab_automove", 0);
        lines.add("slab_chunk_max", context.maxItemLength());
        lines.add("lru_crawler", yesNo(server.maintenance().isCrawling()));
        lines.add("flush_enabled", yesNo(context.flushAllowed()));
        lines.add("dump_enabled", "no");
        lines.add("lru_maintainer_thread", yesNo(context.tailsReclaimed()));
        lines.add("lru_segmented", "yes");
        lines.add("hot_lru_pct", ItemStore.HOT_PERCENT);
        lines.add("warm_lru_pct", ItemStore.WARM_PERCENT);
        lines.add("temp_lru", "no");
        lines.add("idle_timeout", context.idleTimeoutSeconds());
        lines.add("ssl_enabled", "no");
        return lines.end();
    }

    /** {@code stats items}. */
    byte[] items() {
        Lines lines = new Lines();
        for (SizeClassStatistics each :
                store.classStatistics(context.clockSeconds().getAsLong())) {
            SizeClassStatistics.Lru lru = each.lru();
            if (lru.items() == 0 && each.events().evicted() == 0) {
                continue;
            }
            String prefix = "items:" + (each.sizeClass() + 1) + ":";
            lines.add(prefix + "number", lru.items());
            lines.add(prefix + "number_hot", lru.hot());
            lines.add(prefix + "number_warm", lru.warm());
            lines.add(prefix + "number_cold", lru.cold());
            lines.add(prefix + "age_hot", lru.hotAge());
            lines.add(prefix + "age_warm", lru.warmAge());
            lines.add(prefix + "age", lru.coldAge());
            lines.add(prefix + "mem_requested", lru.requestedBytes());
            lines.add(prefix + "evicted", each.events().evicted());
            lines.add(prefix + "evicted_nonzero", each.events().evictedNonzero());
            lines.add(prefix + "evicted_time", each.events().evictedTime());
            lines.add(prefix + "outofmemory", each.events().outOfMemory());
            lines.add(prefix + "tailrepairs", 0);
            lines.add(prefix + "reclaimed", each.events().reclaimed());
            lines.add(prefix + "expired_unfetched", each.events().expiredUnfetched());
            lines.add(prefix + "evicted_unfetched", each.events().evictedUnfetched());
            lines.add(prefix + "crawler_reclaimed", each.events().crawlerReclaimed());
            lines.add(prefix + "lrutail_reflocked", each.events().tailLocked());
            lines.add(prefix + "moves_to_cold", lru.movesToCold());
            lines.add(prefix + "moves_to_warm", lru.movesToWarm());
            lines.add(prefix + "moves_within_lru", lru.movesWithin());
        }
        return lines.end();
    }

    /** {@code stats slabs}. */
    byte[] slabs() {
        Lines lines = new Lines();
        int active = 0;
        for (SizeClassStatistics each :
                store.classStatistics(context.clockSeconds().getAsLong())) {
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
        lines.add("total_malloced", store.statistics().pagedBytes());
        return lines.end();
    }

    /** {@code stats sizes}: as memcached without -o track_sizes. */
    byte[] sizes() {
        Lines lines = new Lines();
        lines.add("sizes_status", "disabled");
        return lines.end();
    }

    /** What the RDMA port and the device count; what peers READ is counted by the device, who serves them. */
    byte[] rdma() {
        Lines lines = new Lines();
        lines.add("device", device.name().replace(' ', '_'));
        lines.add("registration", context.registration().word());
        lines.add("pinning", device.pinning().replace(' ', '_'));
        lines.add("item_regions", server.itemRegions());
        lines.add("queue_pairs", counters.boundQueuePairs.get());
        lines.add("rejected_queue_pairs", counters.rejectedQueuePairs.sum());
        lines.add("stalled_queue_pairs", counters.stalledQueuePairs.sum());
        lines.add("wrong_keys", counters.wrongKeys.sum());
        lines.add("paused_peers", server.rdmaPort().wrongKeys().paused(System.nanoTime()));
        lines.add("paused_hellos", counters.pausedHellos.sum());
        lines.add("rget_hits", counters.rgetHits.sum());
        lines.add("rget_misses", counters.rgetMisses.sum());
        lines.add("rdma_get_hits", counters.rdmaGetHits.sum());
        lines.add("rdma_touch_reports", counters.rdmaTouchReports.sum());
        lines.add("rdma_hits_refused", counters.rdmaHitsRefused.sum());
        lines.add("rdma_touches_refused", counters.rdmaTouchesRefused.sum());
        for (Map.Entry<String, Long> counter : new TreeMap<>(device.counters()).entrySet()) {
            lines.add("device_" + counter.getKey(), counter.getValue());
        }
        return lines.end();
    }

    /** {@code stats reset}: what the device counts stays. */
    void reset() {
        counters.reset();
        server.prefixes().reset();
        store.resetStatistics();
    }

    /** From proc(5) stat, in seconds and microseconds as getrusage gives them; left out where there is no /proc. */
    private static void addCpuTime(Lines lines) {
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

    private static String onOff(boolean value) {
        return value ? "on" : "off";
    }

    private static String yesNo(boolean value) {
        return value ? "yes" : "no";
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
                sum.evicted += each.events().evicted();
                sum.evictedUnfetched += each.events().evictedUnfetched();
                sum.expiredUnfetched += each.events().expiredUnfetched();
                sum.reclaimed += each.events().reclaimed();
                sum.crawlerReclaimed += each.events().crawlerReclaimed();
                sum.tailLocked += each.events().tailLocked();
                sum.movesToCold += each.lru().movesToCold();
                sum.movesToWarm += each.lru().movesToWarm();
                sum.movesWithin += each.lru().movesWithin();
            }
            return sum;
        }
    }

    private static final class Lines {
        private final StringBuilder text = new StringBuilder();

        void add(String name, Object value) {
            text.append("STAT ").append(name).append(' ').append(value).append("\r\n");
        }

        byte[] end() {
            text.append(new String(TextProtocol.END, StandardCharsets.US_ASCII));
            return text.toString().getBytes(StandardCharsets.US_ASCII);
        }
    }
}
