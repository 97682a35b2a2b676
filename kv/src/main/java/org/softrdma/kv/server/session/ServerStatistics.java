package org.softrdma.kv.server.session;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.host.PortSecurity;
import org.softrdma.kv.server.rdma.RdmaCounters;
import org.softrdma.kv.server.rdma.RdmaOffer;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.PageMover;
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

    /** A hash and a chunk. */
    private static final long INDEX_SLOT_BYTES = 2 * Long.BYTES;

    private final KvService service;
    private final ServerCounters counters;
    private final ItemStore store;
    private final VerbsDevice device;
    private final RdmaOffer offer;
    private final RdmaCounters queuePairs;
    private final Maintenance maintenance;
    private final ConnectionList connections;
    private final Consumer<StatLines> settings;
    private final long startSeconds;

    /**
     * The statistics of a server from now on.
     *
     * @param service what is counted
     * @param device what the device counts
     * @param offer what is counted about queue pairs
     * @param maintenance whether it is at work
     * @param connections to the memcached port, whose TLS is reported
     * @param settings adds the lines of {@code stats settings}
     */
    public ServerStatistics(
            KvService service,
            VerbsDevice device,
            RdmaOffer offer,
            Maintenance maintenance,
            ConnectionList connections,
            Consumer<StatLines> settings) {
        this.service = service;
        this.settings = settings;
        this.counters = service.counters();
        this.store = service.store();
        this.device = device;
        this.offer = offer;
        this.queuePairs = offer.admission().service().counters();
        this.maintenance = maintenance;
        this.connections = connections;
        this.startSeconds = service.nowSeconds();
    }

    /**
     * What {@code stats} answers, as names and values in its order. Any thread.
     *
     * @param group which of them: empty for the general ones, or settings, items, slabs or rdma
     */
    public Map<String, String> values(String group) {
        return StatLines.values(
                switch (group) {
                    case "" -> general();
                    case "settings" -> settings();
                    case "items" -> items();
                    case "slabs" -> slabs();
                    case "rdma" -> rdma();
                    default -> throw new IllegalArgumentException("group=" + group);
                });
    }

    /** memcached's general statistics. */
    byte[] general() {
        StoreStatistics items = store.statistics();
        Events events = Events.of(store, service.nowSeconds());
        long now = service.nowSeconds();
        long hits = events.hits + queuePairs.rgetHits.sum() + queuePairs.getHits.sum();
        long misses = counters.getMisses.sum() + queuePairs.rgetMisses.sum();
        StatLines lines = new StatLines();
        lines.add("pid", ManagementFactory.getRuntimeMXBean().getPid());
        lines.add("uptime", now - startSeconds);
        lines.add("time", now);
        lines.add("version", service.settings().version());
        lines.add("libevent", "none");
        lines.add("pointer_size", Long.SIZE);
        addCpuTime(lines);
        addConnections(lines);
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
        lines.add("auth_cmds", counters.authentications.sum());
        lines.add("auth_errors", counters.failedAuthentications.sum());
        if (service.settings().rules().idleTimeoutSeconds() > 0) {
            lines.add("idle_kicks", counters.idleKicks.sum());
        }
        lines.add("bytes_read", counters.bytesRead.sum());
        lines.add("bytes_written", counters.bytesWritten.sum());
        lines.add("limit_maxbytes", items.memory().limit());
        lines.add("accepting_conns", 1);
        lines.add("listen_disabled_num", 0); // a connection too many is refused, and the port stays open
        lines.add("time_in_listen_disabled_us", 0);
        lines.add("threads", service.settings().port().threads());
        lines.add("conn_yields", counters.yields.sum());
        addBackground(lines, items);
        lines.add("log_worker_dropped", 0); // lines go to watchers straight away
        lines.add("log_worker_written", service.watchLog().written());
        lines.add("log_watcher_skipped", service.watchLog().skipped());
        lines.add("log_watcher_sent", service.watchLog().sent());
        lines.add("log_watchers", service.watchLog().watchers());
        lines.add("unexpected_napi_ids", 0);
        lines.add("round_robin_fallback", 0);
        lines.add("bytes", items.currentBytes());
        lines.add("curr_items", items.currentItems());
        lines.add("total_items", items.totalItems());
        lines.add("slab_global_page_pool", store.mover().pooledPages());
        lines.add("expired_unfetched", events.expiredUnfetched);
        lines.add("evicted_unfetched", events.evictedUnfetched);
        if (maintenance.areTailsReclaimed()) {
            lines.add("evicted_active", events.evictedActive);
        }
        lines.add("evictions", events.evicted);
        lines.add("reclaimed", events.reclaimed);
        lines.add("crawler_reclaimed", events.crawlerReclaimed);
        lines.add("crawler_items_checked", events.crawlerChecked);
        lines.add("lrutail_reflocked", events.tailLocked);
        if (maintenance.areTailsReclaimed()) {
            lines.add("moves_to_cold", events.movesToCold);
            lines.add("moves_to_warm", events.movesToWarm);
            lines.add("moves_within_lru", events.movesWithin);
            lines.add("direct_reclaims", events.directReclaims);
            lines.add("lru_bumps_dropped", 0); // nobody queues them
        }
        addSecurity(lines);
        return lines.end();
    }

    /** What memcached keeps per connection; buffers here belong to the network, which counts none of them. */
    private void addConnections(StatLines lines) {
        int connections = counters.currentConnections.get();
        lines.add("max_connections", service.settings().rules().maxConnections());
        lines.add("curr_connections", connections);
        lines.add("total_connections", counters.totalConnections.sum());
        lines.add("rejected_connections", counters.rejectedConnections.sum());
        lines.add("connection_structures", connections);
        lines.add("response_obj_oom", 0);
        lines.add("response_obj_count", 0);
        lines.add("response_obj_bytes", service.outputBudget().used());
        lines.add("read_buf_count", 0);
        lines.add("read_buf_bytes", 0);
        lines.add("read_buf_bytes_free", 0);
        lines.add("read_buf_oom", 0);
        lines.add("reserved_fds", 0);
    }

    /** The hash table, and who tidies up; pages do not move, and nothing has to grow in the background. */
    private void addBackground(StatLines lines, StoreStatistics items) {
        long slots = Math.max(1, items.memory().indexBytes() / INDEX_SLOT_BYTES);
        lines.add("hash_power_level", Long.SIZE - 1 - Long.numberOfLeadingZeros(slots));
        lines.add("hash_bytes", items.memory().indexBytes());
        lines.add("hash_is_expanding", 0);
        addMoves(lines);
        if (maintenance.isCrawling()) {
            lines.add("lru_crawler_running", maintenance.isCrawlAsked() ? 1 : 0);
            lines.add("lru_crawler_starts", maintenance.crawls());
        }
        if (maintenance.areTailsReclaimed()) {
            lines.add("lru_maintainer_juggles", maintenance.rounds());
        }
        lines.add("malloc_fails", 0);
    }

    private void addSecurity(StatLines lines) {
        PortSecurity security = connections.security();
        if (security != null) {
            lines.add("ssl_handshake_errors", security.handshakeErrors());
            lines.add(
                    "time_since_server_cert_refresh",
                    TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - security.refreshedNs()));
        }
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
            if (lru.items() == 0) {
                continue;
            }
            boolean maintained = maintenance.areTailsReclaimed();
            String prefix = "items:" + (each.sizeClass() + 1) + ":";
            lines.add(prefix + "number", lru.items());
            if (maintained) {
                lines.add(prefix + "number_hot", lru.hot().items());
                lines.add(prefix + "number_warm", lru.warm().items());
                lines.add(prefix + "number_cold", lru.cold().items());
                if (store.lru().temporaryApart()) {
                    lines.add(prefix + "number_temp", lru.temporary().items());
                }
                lines.add(prefix + "age_hot", lru.hot().ageSeconds());
                lines.add(prefix + "age_warm", lru.warm().ageSeconds());
            }
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
            if (maintained) {
                lines.add(prefix + "evicted_active", each.events().evictions().active());
            }
            lines.add(prefix + "crawler_reclaimed", each.events().crawlerReclaimed());
            lines.add(prefix + "crawler_items_checked", each.events().crawlerChecked());
            lines.add(prefix + "lrutail_reflocked", each.events().tailLocked());
            if (maintained) {
                lines.add(prefix + "moves_to_cold", lru.moves().toCold());
                lines.add(prefix + "moves_to_warm", lru.moves().toWarm());
                lines.add(prefix + "moves_within_lru", lru.moves().within());
                lines.add(prefix + "direct_reclaims", each.events().directReclaims());
                lines.add(prefix + "hits_to_hot", lru.hot().hits());
                lines.add(prefix + "hits_to_warm", lru.warm().hits());
                lines.add(prefix + "hits_to_cold", lru.cold().hits());
                lines.add(prefix + "hits_to_temp", lru.temporary().hits());
            }
        }
        return lines.end();
    }

    private void addMoves(StatLines lines) {
        PageMover.Counts counts = store.mover().counts();
        lines.add("slab_reassign_rescues", counts.rescued());
        lines.add("slab_reassign_chunk_rescues", 0); // an item is one chunk
        lines.add("slab_reassign_evictions_nomem", counts.evicted());
        lines.add("slab_reassign_inline_reclaim", 0); // a chunk of a page that leaves is never waited for by an item
        lines.add("slab_reassign_busy_items", counts.busyItems());
        lines.add("slab_reassign_busy_deletes", 0); // a page whose items stay in use stays, too
        lines.add("slab_reassign_running", store.mover().isMoving() ? 1 : 0);
        lines.add("slabs_moved", counts.pages());
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
            lines.add(prefix + "free_chunks_end", 0); // memcached has cut all of a page from the start, too
            int sizeClass = each.sizeClass();
            lines.add(prefix + "get_hits", each.lru().hits());
            lines.add(prefix + "cmd_set", counters.sets.sum(sizeClass));
            lines.add(prefix + "delete_hits", counters.deleteHits.sum(sizeClass));
            lines.add(prefix + "incr_hits", counters.incrHits.sum(sizeClass));
            lines.add(prefix + "decr_hits", counters.decrHits.sum(sizeClass));
            lines.add(prefix + "cas_hits", counters.casHits.sum(sizeClass));
            lines.add(prefix + "cas_badval", counters.casBadValues.sum(sizeClass));
            lines.add(prefix + "touch_hits", counters.touchHits.sum(sizeClass));
            active++;
        }
        lines.add("active_slabs", active);
        lines.add("total_malloced", store.statistics().memory().pagedBytes());
        return lines.end();
    }

    /** {@code stats sizes}: how many items there are of each length. Looks at all of them. */
    byte[] sizes() {
        StatLines lines = new StatLines();
        store.walk().lengths().forEach((length, count) -> lines.add(Integer.toString(length), count));
        return lines.end();
    }

    /** What {@code stats sizes} answers while it is off. */
    byte[] noSizes() {
        StatLines lines = new StatLines();
        lines.add("sizes_status", "disabled");
        return lines.end();
    }

    /** What {@code stats sizes_enable} and {@code stats sizes_disable} answer: as in memcached no END follows. */
    byte[] sizesStatus() {
        return TextProtocol.line("STAT sizes_status " + (service.sizesTracked().get() ? "enabled" : "disabled"));
    }

    /** When the server was started. */
    long startSeconds() {
        return startSeconds;
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
        service.watchLog().reset();
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
        long evictedActive;
        long hits;
        long crawlerChecked;
        long directReclaims;
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
                sum.evictedActive += each.events().evictions().active();
                sum.hits += each.lru().hits();
                sum.crawlerChecked += each.events().crawlerChecked();
                sum.directReclaims += each.events().directReclaims();
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
