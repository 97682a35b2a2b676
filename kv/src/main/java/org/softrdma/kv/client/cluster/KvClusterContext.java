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
 * Configuration of a {@link KvCluster} or {@link SharedKvCluster}: filled by setters, checked and frozen by {@link
 * #conclude()}. Not thread-safe.
 */
public final class KvClusterContext {
    /** Default time for which an ejected server is not used. */
    public static final long DEFAULT_RETRY_NS = TimeUnit.SECONDS.toNanos(30);

    private static final long MAX_RETRY_NS = TimeUnit.DAYS.toNanos(1);
    private static final int MAX_FAILURES = 1 << 20;
    private static final int MAX_SERVERS = 4096;

    private final List<ClusterServer> servers;
    private UnaryOperator<KvClientContext> settings = UnaryOperator.identity();
    private int ejectAfter;
    private long retryNs = DEFAULT_RETRY_NS;
    private boolean concluded;

    /**
     * The defaults for some servers.
     *
     * @param servers in the order that all clients of the cluster have
     */
    public KvClusterContext(List<ClusterServer> servers) {
        this.servers = List.copyOf(servers);
    }

    /** The servers. */
    public List<ClusterServer> servers() {
        return servers;
    }

    /**
     * Sets the options of the connections to each server; by default those of {@link KvClientContext}.
     *
     * @param choice changes the context that it gets, and returns it without concluding it
     */
    public KvClusterContext settings(UnaryOperator<KvClientContext> choice) {
        requireOpen();
        settings = choice;
        return this;
    }

    /**
     * Sets when a server that fails is ejected; never, unless set. The keys of an ejected server live on the others
     * until it is back. So a client that loses its connection to a server that others still reach stores values
     * elsewhere, and finds old ones when it returns: use this only where a value may be out of date, as in a cache.
     *
     * @param failures requests in a row that failed because the server was gone or did not answer in time; 0 for never
     * @param newRetryNs how long it is not used; positive, at most a day. After that, one failure ejects it again
     */
    public KvClusterContext ejectAfter(int failures, long newRetryNs) {
        requireOpen();
        ejectAfter = failures;
        retryNs = newRetryNs;
        return this;
    }

    /** After how many failures in a row a server is ejected; 0 for never. */
    public int ejectAfter() {
        return ejectAfter;
    }

    /** How long an ejected server is not used. */
    public long retryNs() {
        return retryNs;
    }

    /**
     * Checks everything and freezes this.
     *
     * @throws IllegalArgumentException naming every fault
     */
    public KvClusterContext conclude() {
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
        template(); // says what is wrong with the settings
        concluded = true;
        return this;
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
        return settings.apply(new KvClientContext(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), ClusterServer.DEFAULT_PORT)))
                .conclude();
    }

    private void requireOpen() {
        if (concluded) {
            throw new IllegalStateException("the context is concluded");
        }
    }
}
