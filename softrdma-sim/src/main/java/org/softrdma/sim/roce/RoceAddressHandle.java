package org.softrdma.sim.roce;

import java.net.InetSocketAddress;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.provider.Closing;

/**
 * A way to a host. Whoever sends by it needs no look-up: it has the path. A datagram that was posted before it was closed
 * still finds it. Thread-safe, but the path is the engine's.
 */
final class RoceAddressHandle implements AddressHandle {
    private final ProtectionDomain domain;
    private final Gid local;
    private final InetSocketAddress host;
    private final RocePath path;
    private final Runnable onClose;
    private final Closing closing = new Closing();

    /**
     * Opened.
     *
     * @param domain its domain, which counts it already
     * @param local address of this host that datagrams leave
     * @param host where it leads
     * @param path there from that address
     * @param onClose runs once when it is closed
     */
    RoceAddressHandle(ProtectionDomain domain, Gid local, InetSocketAddress host, RocePath path, Runnable onClose) {
        this.domain = domain;
        this.local = local;
        this.host = host;
        this.path = path;
        this.onClose = onClose;
    }

    /** The address that datagrams leave. */
    Gid local() {
        return local;
    }

    /** The path there. */
    RocePath path() {
        return path;
    }

    /** Refuses a post by it once it is closed. */
    void checkOpen() {
        if (closing.hasBegun()) {
            throw new IllegalStateException("the address handle to " + host + " is closed");
        }
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public InetSocketAddress host() {
        return host;
    }

    @Override
    public void close() {
        closing.once(onClose);
    }

    @Override
    public String toString() {
        return "AddressHandle[" + host + "]";
    }
}
