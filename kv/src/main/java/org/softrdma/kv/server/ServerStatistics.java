package org.softrdma.kv.server;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.StoreStatistics;
import org.softrdma.verbs.VerbsDevice;

/** The answers to {@code stats} and {@code stats rdma}. Any thread. */
final class ServerStatistics {
    private final KvServerContext context;
    private final ServerCounters counters;
    private final ItemStore store;
    private final VerbsDevice device;
    private final long startSeconds;

    ServerStatistics(KvServerContext context, ServerCounters counters, ItemStore store, VerbsDevice device) {
        this.context = context;
        this.counters = counters;
        this.store = store;
        this.device = device;
        this.startSeconds = context.clockSeconds().getAsLong();
    }

    /** memcached's general statistics, those that this server has. */
    byte[] general() {
        StoreStatistics items = store.statistics();
        long now = context.clockSeconds().getAsLong();
        long hits = counters.getHits.sum() + counters.rgetHits.sum() + counters.rdmaGetHits.sum();
        long misses = counters.getMisses.sum() + counters.rgetMisses.sum();
        Lines lines = new Lines();
        lines.add("pid", ManagementFactory.getRuntimeMXBean().getPid());
        lines.add("uptime", now - startSeconds);
        lines.add("time", now);
        lines.add("version", context.version());
        lines.add("pointer_size", Long.SIZE);
        lines.add("max_connections", context.maxConnections());
        lines.add("curr_connections", counters.currentConnections.get());
        lines.add("total_connections", counters.totalConnections.sum());
        lines.add("rejected_connections", counters.rejectedConnections.sum());
        lines.add("cmd_get", hits + misses);
        lines.add("cmd_set", counters.sets.sum());
        lines.add("get_hits", hits);
        lines.add("get_misses", misses);
        lines.add("delete_misses", counters.deleteMisses.sum());
        lines.add("delete_hits", counters.deleteHits.sum());
        lines.add("store_too_large", counters.tooLarge.sum());
        lines.add("store_no_memory", counters.outOfMemory.sum());
        lines.add("limit_maxbytes", items.memoryLimit());
        lines.add("threads", context.threads());
        lines.add("bytes", items.currentBytes());
        lines.add("curr_items", items.currentItems());
        lines.add("total_items", items.totalItems());
        lines.add("total_malloced", items.pagedBytes());
        return lines.end();
    }

    /** What the RDMA port and the device count; what peers READ is counted by the device, who serves them. */
    byte[] rdma() {
        Lines lines = new Lines();
        lines.add("device", device.name().replace(' ', '_'));
        lines.add("queue_pairs", counters.boundQueuePairs.get());
        lines.add("rejected_queue_pairs", counters.rejectedQueuePairs.sum());
        lines.add("rget_hits", counters.rgetHits.sum());
        lines.add("rget_misses", counters.rgetMisses.sum());
        lines.add("rdma_get_hits", counters.rdmaGetHits.sum());
        lines.add("rdma_touch_reports", counters.rdmaTouchReports.sum());
        for (Map.Entry<String, Long> counter : new TreeMap<>(device.counters()).entrySet()) {
            lines.add("device_" + counter.getKey(), counter.getValue());
        }
        return lines.end();
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
