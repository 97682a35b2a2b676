package org.softrdma.verbs;

import java.net.InetSocketAddress;

/**
 * A way to a host, for datagrams (C: {@code ibv_ah}). {@link ProtectionDomain#createAddressHandle} makes it once, and
 * {@link QueuePair#postSendTo} uses it as often as you like, on every queue pair of its domain. One handle serves all
 * queue pairs of that host. Thread-safe.
 *
 * <p>Keep it open until the datagrams that name it have completed: a device may look at it when it sends.
 */
public interface AddressHandle extends AutoCloseable {
    /** The domain it belongs to. */
    ProtectionDomain protectionDomain();

    /** Where it leads. */
    InetSocketAddress host();

    /** Destroys it (C: {@code ibv_destroy_ah}). Posts that name it are refused from now on. Idempotent. */
    @Override
    void close();
}
