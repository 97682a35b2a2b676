package org.softrdma.stores;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;

/** Settings of a client of any design. Filled by one thread; immutable once concluded. */
public final class StoreClientContext extends StoreSettings<StoreClientContext> {
    private final List<InetSocketAddress> servers;
    private long timeoutNs = TimeUnit.SECONDS.toNanos(1);
    private long connectTimeoutNs = TimeUnit.SECONDS.toNanos(2);
    private IdleStrategy idleStrategy = new BackoffIdleStrategy();

    /**
     * Usual settings.
     *
     * @param servers addresses of the store's servers, in an order that all clients share
     */
    public StoreClientContext(List<InetSocketAddress> servers) {
        this.servers = List.copyOf(servers);
    }

    /** Usual settings, for a store of one server. */
    public StoreClientContext(InetSocketAddress server) {
        this(List.of(server));
    }

    @Override
    StoreClientContext self() {
        return this;
    }

    @Override
    void check(List<String> faults) {
        SettingCheck.range(faults, "servers", servers.size(), 1, Integer.MAX_VALUE);
        SettingCheck.range(faults, "timeoutNs", timeoutNs, 1, Long.MAX_VALUE);
        SettingCheck.range(faults, "connectTimeoutNs", connectTimeoutNs, 1, Long.MAX_VALUE);
    }

    /** Time limit of an operation; 1 s by default. */
    public StoreClientContext timeoutNs(long ns) {
        return changed(() -> timeoutNs = ns);
    }

    /** Time limit of an attempt to connect; 2 s by default. */
    public StoreClientContext connectTimeoutNs(long ns) {
        return changed(() -> connectTimeoutNs = ns);
    }

    /** The clock, and how the client waits; by default those of the JVM. */
    public StoreClientContext time(NanoClock clock, IdleStrategy idle) {
        changed(() -> idleStrategy = idle);
        return nanoClock(clock);
    }

    /** The servers. */
    public List<InetSocketAddress> servers() {
        return servers;
    }

    /** Time limit of an operation. */
    public long timeoutNs() {
        return timeoutNs;
    }

    /** Time limit of an attempt to connect. */
    public long connectTimeoutNs() {
        return connectTimeoutNs;
    }

    /** How it waits. */
    public IdleStrategy idleStrategy() {
        return idleStrategy;
    }
}
