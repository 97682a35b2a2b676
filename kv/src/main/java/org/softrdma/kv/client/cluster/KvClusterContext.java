package org.softrdma.kv.client.cluster;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvException;

/**
 * Configuration of a {@link KvCluster} or {@link SharedKvCluster}.
 *
 * @param servers in the order that all clients of the cluster have
 * @param settings options of the connections to each server: changes the context that it gets, and returns it without
 *     concluding it
 * @param ejectAfter requests in a row after which a server is ejected, because they failed as it was gone or did not
 *     answer in time; 0 for never
 * @param retryNs how long an ejected server is not used; positive, at most a day. After that, one failure ejects it again
 */
public record KvClusterContext(
        List<ClusterServer> servers, UnaryOperator<KvClientContext> settings, int ejectAfter, long retryNs) {
    /** Default time for which an ejected server is not used. */
    public static final long DEFAULT_RETRY_NS = TimeUnit.SECONDS.toNanos(30);

    private static final long MAX_RETRY_NS = TimeUnit.DAYS.toNanos(1);
    private static final int MAX_FAILURES = 1 << 20;
    private static final int MAX_SERVERS = 4096;

    /**
     * Checks everything.
     *
     * @throws IllegalArgumentException naming every fault
     */
    public KvClusterContext {
        servers = List.copyOf(servers);
        List<String> faults = new ArrayList<>();
        if (servers.isEmpty() || servers.size() > MAX_SERVERS) {
            faults.add("servers=" + servers.size() + ": expected 1 to " + MAX_SERVERS);
        }
        Set<String> names = new HashSet<>();
        for (ClusterServer server : servers) {
            if (!names.add(server.toString())) {
                faults.add("server " + server + ": named twice");
            }
        }
        if (ejectAfter < 0 || ejectAfter > MAX_FAILURES) {
            faults.add("ejectAfter=" + ejectAfter + ": expected 0 to " + MAX_FAILURES);
        }
        if (retryNs < 1 || retryNs > MAX_RETRY_NS) {
            faults.add("retryNs=" + retryNs + ": expected 1 to " + MAX_RETRY_NS);
        }
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", faults));
        }
        KvClientContext ignored = template(settings); // says what is wrong with the settings
    }

    /** The defaults for some servers: those of {@link KvClientContext}, and no server is ejected. */
    public KvClusterContext(List<ClusterServer> servers) {
        this(servers, UnaryOperator.identity(), 0, DEFAULT_RETRY_NS);
    }

    /** The same with other options of the connections. */
    public KvClusterContext withSettings(UnaryOperator<KvClientContext> choice) {
        return new KvClusterContext(servers, choice, ejectAfter, retryNs);
    }

    /**
     * The same, but servers that fail are ejected. The keys of an ejected server live on the others until it is back. So a
     * client that loses its connection to a server that others still reach stores values elsewhere, and finds old ones
     * when it returns: use this only where a value may be out of date, as in a cache.
     *
     * @param failures requests in a row
     * @param newRetryNs how long it is not used
     */
    public KvClusterContext withEjection(int failures, long newRetryNs) {
        return new KvClusterContext(servers, settings, failures, newRetryNs);
    }

    /**
     * What the connection to a server is like.
     *
     * @throws KvException if the host has no address now: the server is gone, as far as this client knows
     */
    KvClientContext context(ClusterServer server) {
        InetSocketAddress address = server.address();
        if (address.isUnresolved()) {
            throw new KvException("cannot connect to " + server + ": unknown host");
        }
        return settings.apply(new KvClientContext(address)).conclude();
    }

    /** What all connections have in common, whatever the server. */
    KvClientContext template() {
        return template(settings);
    }

    private static KvClientContext template(UnaryOperator<KvClientContext> settings) {
        return settings.apply(new KvClientContext(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), ClusterServer.DEFAULT_PORT)))
                .conclude();
    }
}
