package org.softrdma.stores;

import java.net.InetSocketAddress;
import java.util.List;

/** Settings of a server of any design. Filled by one thread; immutable once concluded. */
public final class StoreServerContext extends StoreSettings<StoreServerContext> {
    private static final int MOST_CONNECTIONS = 10_000;

    private final InetSocketAddress address;
    private int maxConnections = 64;
    private MemorySteps steps = MemorySteps.OF_JVM;

    /**
     * Usual settings.
     *
     * @param address where to listen; port 0 picks a free one
     */
    public StoreServerContext(InetSocketAddress address) {
        this.address = address;
    }

    @Override
    StoreServerContext self() {
        return this;
    }

    @Override
    void check(List<String> faults) {
        SettingCheck.range(faults, "maxConnections", maxConnections, 1, MOST_CONNECTIONS);
    }

    /** Most clients at a time; 64 by default. */
    public StoreServerContext maxConnections(int connections) {
        return changed(() -> maxConnections = connections);
    }

    /** How it writes memory that peers READ meanwhile; as usual by default. */
    public StoreServerContext steps(MemorySteps newSteps) {
        return changed(() -> steps = newSteps);
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return address;
    }

    /** Most clients at a time. */
    public int maxConnections() {
        return maxConnections;
    }

    /** How it writes memory that peers READ meanwhile. */
    public MemorySteps steps() {
        return steps;
    }
}
