package org.softrdma.ibverbs.device;

import java.util.concurrent.atomic.AtomicLong;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.provider.Closing;

/**
 * An {@code ibv_mw} of type 2. The driver gives the upper 24 bits of its keys; the lower 8 are the application's, which
 * counts its binds there, as {@code ibv_inc_rkey} does. Thread-safe.
 */
public abstract class IbvMemoryWindow implements MemoryWindow {
    private static final int COUNTED_BITS = 0xFF;

    private final ProtectionDomain domain;
    private final Runnable whenClosed;
    private final int firstKey;
    /** Binds that were posted and not taken back. */
    private final AtomicLong binds = new AtomicLong();

    private final Closing closing = new Closing();

    /**
     * Wraps a window that was just allocated.
     *
     * @param domain its domain, which counts it already
     * @param firstKey of the native window
     * @param whenClosed runs on close
     */
    protected IbvMemoryWindow(ProtectionDomain domain, int firstKey, Runnable whenClosed) {
        this.domain = domain;
        this.firstKey = firstKey;
        this.whenClosed = whenClosed;
    }

    /** {@code ibv_dealloc_mw}; may throw after {@link #stillOpen}. */
    protected abstract void deallocate();

    /** The native window could not be deallocated, so that {@link #close} may be called again. */
    protected final void stillOpen() {
        closing.stillOpen();
    }

    /** True once it is closed. */
    protected final boolean isClosed() {
        return closing.hasBegun();
    }

    /**
     * A bind is about to be posted.
     *
     * @return the key that it gives the window
     */
    protected final int nextKey() {
        return key(binds.incrementAndGet());
    }

    /** The last bind was not posted after all. */
    protected final void takeBack() {
        binds.decrementAndGet();
    }

    private int key(long bind) {
        return (firstKey & ~COUNTED_BITS) | (int) ((firstKey + bind) & COUNTED_BITS);
    }

    @Override
    public final ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public final int rkey() {
        long bind = binds.get();
        return bind == 0 ? 0 : key(bind);
    }

    @Override
    public final void close() {
        closing.once(() -> {
            deallocate();
            whenClosed.run();
        });
    }

    @Override
    public final String toString() {
        return "MemoryWindow[0x" + Integer.toHexString(rkey()) + "]";
    }
}
