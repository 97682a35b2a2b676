package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.provider.Closing;

/** An {@code ibv_ah}. The queue pairs of its domain use it under their send locks. Thread-safe. */
public abstract class IbvAddressHandle implements AddressHandle {
    private final Parts parts;
    private final Closing closing = new Closing();

    /**
     * What it is made of.
     *
     * @param domain its domain, which counts it already
     * @param host where it leads, checked
     * @param awaitPosts returns when no post is under way that may use a handle of the domain
     * @param whenClosed runs on close
     */
    public record Parts(ProtectionDomain domain, InetSocketAddress host, Runnable awaitPosts, Runnable whenClosed) {}

    /** Wraps a handle that was just created. */
    protected IbvAddressHandle(Parts parts) {
        this.parts = parts;
    }

    /** {@code ibv_destroy_ah}; may throw after {@link #stillOpen}. */
    protected abstract void destroy();

    /** The native handle could not be destroyed, so that {@link #close} may be called again. */
    protected final void stillOpen() {
        closing.stillOpen();
    }

    /** True once it is closed. Under a send lock it remains what it was, as far as the native handle is concerned. */
    protected final boolean isClosed() {
        return closing.hasBegun();
    }

    @Override
    public final ProtectionDomain protectionDomain() {
        return parts.domain;
    }

    @Override
    public final InetSocketAddress host() {
        return parts.host;
    }

    @Override
    public final void close() {
        closing.once(() -> {
            parts.awaitPosts.run();
            destroy();
            parts.whenClosed.run();
        });
    }

    @Override
    public final String toString() {
        return "AddressHandle[" + parts.host + "]";
    }
}
