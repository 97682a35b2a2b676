package org.softrdma.kv.server;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Consumer;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.session.ConnectionList;
import org.softrdma.kv.server.session.KvService;
import org.softrdma.kv.server.session.Maintenance;
import org.softrdma.kv.server.session.StatLines;
import org.softrdma.kv.store.ItemStore;

/**
 * The lines of {@code stats settings}: names and order as memcached 1.6 has them, those that mean something here. Any
 * thread.
 */
final class SettingsStatistics implements Consumer<StatLines> {
    private final KvServerContext context;
    private final KvService service;
    private final Maintenance maintenance;
    private final ConnectionList connections;

    SettingsStatistics(
            KvServerContext context, KvService service, Maintenance maintenance, ConnectionList connections) {
        this.context = context;
        this.service = service;
        this.maintenance = maintenance;
        this.connections = connections;
    }

    @Override
    public void accept(StatLines lines) {
        PortSettings port = context.port();
        Path socket = port.unixSocket();
        lines.add("maxbytes", service.store().statistics().memory().limit());
        lines.add("maxconns", context.maxConnections());
        lines.add("tcpport", connections.listening() instanceof InetSocketAddress tcp ? tcp.getPort() : 0);
        lines.add("udpport", 0);
        lines.add("inter", socket == null ? port.address().getHostString() : "NULL");
        lines.add("verbosity", service.verbosity());
        lines.add("evictions", onOff(context.items().evicting()));
        lines.add("domain_socket", socket == null ? "NULL" : socket);
        lines.add("umask", Integer.toOctalString(port.unixSocketMask()));
        lines.add("shutdown_command", yesNo(context.shutdown() != null));
        lines.add(
                "growth_factor",
                String.format(Locale.ROOT, "%.2f", context.items().slabFactor()));
        lines.add("chunk_size", context.items().minimumSpace());
        lines.add("num_threads", port.threads());
        lines.add("cas_enabled", "yes");
        lines.add("tcp_backlog", port.backlog());
        lines.add("binding_protocol", "ascii");
        lines.add("auth_enabled_sasl", "no");
        lines.add("auth_enabled_ascii", yesNo(context.passwords() != null));
        lines.add("item_size_max", context.items().maxItemLength());
        lines.add("maxconns_fast", "yes");
        lines.add("slab_reassign", "no");
        lines.add("slab_automove", 0);
        lines.add("slab_chunk_max", context.items().maxItemLength());
        lines.add("lru_crawler", yesNo(maintenance.isCrawling()));
        lines.add("flush_enabled", yesNo(context.flushAllowed()));
        lines.add("dump_enabled", "no");
        lines.add("lru_maintainer_thread", yesNo(context.items().tailsReclaimed()));
        lines.add("lru_segmented", "yes");
        lines.add("hot_lru_pct", ItemStore.HOT_PERCENT);
        lines.add("warm_lru_pct", ItemStore.WARM_PERCENT);
        lines.add("temp_lru", "no");
        lines.add("idle_timeout", context.timeouts().idleTimeoutSeconds());
        lines.add("ssl_enabled", "no");
    }

    private static String onOff(boolean value) {
        return value ? "on" : "off";
    }

    private static String yesNo(boolean value) {
        return value ? "yes" : "no";
    }
}
