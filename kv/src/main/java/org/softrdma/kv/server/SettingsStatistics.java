package org.softrdma.kv.server;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.server.session.ConnectionList;
import org.softrdma.kv.server.session.KvService;
import org.softrdma.kv.server.session.Maintenance;
import org.softrdma.kv.server.session.StatLines;
import org.softrdma.kv.store.LruRules;
import org.softrdma.kv.store.PageBalance;
import org.softrdma.verbs.MemorySource;

/**
 * The lines of {@code stats settings}: names and order as memcached 1.6 has them, those that mean something here. Any
 * thread.
 */
final class SettingsStatistics implements Consumer<StatLines> {
    /** What memcached writes where nothing was given. */
    private static final String NOT_GIVEN = "(null)";

    /** OpenSSL's number of the only format of keys. */
    private static final int PEM = 1;

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
        addListening(lines);
        lines.add("verbosity", service.verbosity());
        lines.add("oldest", 0); // a flush removes items, and need not remember when it was
        lines.add("evictions", onOff(context.items().evicting()));
        addSocket(lines);
        lines.add("growth_factor", decimal("%.2f", context.items().slabFactor()));
        lines.add("chunk_size", context.items().minimumSpace());
        addProtocol(lines);
        lines.add("item_size_max", context.items().maxItemLength());
        lines.add("maxconns_fast", "yes");
        lines.add("hashpower_init", 0);
        PageBalance balance = service.store().balance();
        lines.add("slab_reassign", yesNo(balance.allowed()));
        lines.add("slab_automove", balance.allowed() ? balance.level() : 0);
        lines.add("slab_automove_ratio", decimal("%.2f", balance.ratio()));
        lines.add("slab_automove_window", balance.window());
        lines.add("slab_chunk_max", context.items().maxItemLength());
        addLru(lines);
        lines.add("idle_timeout", context.timeouts().idleTimeoutSeconds());
        lines.add("watcher_logbuf_size", context.diagnosis().watcherBufferBytes());
        lines.add("worker_logbuf_size", 0); // lines go to watchers straight away
        lines.add("read_buf_mem_limit", 0);
        lines.add("track_sizes", yesNo(service.sizesTracked().get()));
        lines.add("inline_ascii_response", "no");
        addTls(lines, context.port().tls());
        lines.add("num_napi_ids", NOT_GIVEN);
        lines.add("memory_file", memoryFile());
    }

    private void addListening(StatLines lines) {
        PortSettings port = context.port();
        lines.add("maxbytes", service.store().statistics().memory().limit());
        lines.add("maxconns", context.maxConnections());
        boolean tcp =
                !connections.listening().isEmpty() && connections.listening().getFirst() instanceof InetSocketAddress;
        lines.add("tcpport", tcp ? ((InetSocketAddress) connections.listening().getFirst()).getPort() : 0);
        lines.add("udpport", 0);
        String hosts =
                port.addresses().stream().map(InetSocketAddress::getHostString).collect(Collectors.joining(","));
        lines.add("inter", port.unixSocket() == null ? hosts : "NULL");
    }

    private void addSocket(StatLines lines) {
        PortSettings port = context.port();
        Path socket = port.unixSocket();
        lines.add("domain_socket", socket == null ? "NULL" : socket);
        lines.add("umask", Integer.toOctalString(port.unixSocketMask()));
        lines.add("shutdown_command", yesNo(context.shutdown() != null));
    }

    private void addProtocol(StatLines lines) {
        lines.add("num_threads", context.port().threads());
        lines.add("num_threads_per_udp", 0);
        lines.add("stat_key_prefix", context.diagnosis().prefixDelimiter());
        lines.add("detail_enabled", yesNo(service.countsPrefixes()));
        lines.add("reqs_per_event", context.requestsPerTurn());
        lines.add("cas_enabled", yesNo(context.items().casNumbers()));
        lines.add("tcp_backlog", context.port().backlog());
        lines.add(
                "binding_protocol",
                switch (context.protocol()) {
                    case ASCII -> "ascii";
                    case BINARY -> "binary";
                    case AUTO -> "auto-negotiate";
                });
        lines.add("auth_enabled_sasl", yesNo(context.sasl()));
        lines.add("auth_enabled_ascii", yesNo(context.passwords() != null));
    }

    private void addLru(StatLines lines) {
        LruRules lru = service.store().lru();
        lines.add("lru_crawler", yesNo(maintenance.isCrawling()));
        lines.add("lru_crawler_sleep", maintenance.crawlSleepMicros());
        lines.add("lru_crawler_tocrawl", maintenance.mostToCrawl());
        lines.add("tail_repair_time", 0);
        lines.add("flush_enabled", yesNo(context.flushAllowed()));
        lines.add("dump_enabled", yesNo(context.diagnosis().dumpAllowed()));
        lines.add("hash_algorithm", "seeded");
        lines.add("lru_maintainer_thread", yesNo(context.items().tailsReclaimed()));
        lines.add("lru_segmented", yesNo(lru.segmented()));
        lines.add("hot_lru_pct", lru.hotPercent());
        lines.add("warm_lru_pct", lru.warmPercent());
        lines.add("hot_max_factor", decimal("%.2f", lru.hotMaxFactor()));
        lines.add("warm_max_factor", decimal("%.2f", lru.warmMaxFactor()));
        lines.add("temp_lru", yesNo(lru.temporaryApart()));
        lines.add("temporary_ttl", lru.temporaryTtlSeconds());
    }

    /** Without TLS a memcached has the defaults of all its words here. */
    private static void addTls(StatLines lines, @Nullable TlsSettings tls) {
        lines.add("ssl_enabled", yesNo(tls != null));
        lines.add("ssl_chain_cert", tls == null ? "(null)" : tls.certificates());
        lines.add("ssl_key", tls == null ? "(null)" : tls.key());
        lines.add("ssl_verify_mode", tls == null ? 0 : verifyMode(tls.clients()));
        lines.add("ssl_keyformat", PEM);
        lines.add("ssl_ciphers", tls == null || tls.ciphers().isEmpty() ? "NULL" : String.join(":", tls.ciphers()));
        lines.add("ssl_ca_cert", tls == null || tls.authorities() == null ? "NULL" : tls.authorities());
        lines.add("ssl_wbuf_size", tls == null ? TlsSettings.DEFAULT_BUFFER_LENGTH : tls.bufferLength());
        lines.add("ssl_session_cache", yesNo(tls != null && tls.sessionsKept()));
        lines.add("ssl_kernel_tls", "no");
        lines.add("ssl_min_version", tls != null && tls.onlyNewest() ? "tlsv1.3" : "tlsv1.2");
    }

    /** OpenSSL's numbers, which memcached shows: verify the peer, and fail without a certificate. */
    private static int verifyMode(TlsSettings.ClientCertificates clients) {
        return switch (clients) {
            case IGNORED -> 0;
            case WANTED -> 1;
            case NEEDED -> 1 | 1 << 1;
        };
    }

    private String memoryFile() {
        return context.items().memory() instanceof MemorySource.File file
                ? file.path().toString()
                : NOT_GIVEN;
    }

    private static String decimal(String form, double value) {
        return String.format(Locale.ROOT, form, value);
    }

    private static String onOff(boolean value) {
        return value ? "on" : "off";
    }

    private static String yesNo(boolean value) {
        return value ? "yes" : "no";
    }
}
