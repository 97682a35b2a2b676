package org.softrdma.ibverbs.device;

import java.util.concurrent.atomic.AtomicLong;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.provider.Closing;

/**
 * An {@code ibv_mw} of type 2. The driver gives the upper 24 bits of its keys; the lower 8 are the application's, which
 * counts its binds there, as {@code ibv_inc_rkey} does. A bind that fails leaves the driver with the key before it, and
 * the next bind has to name that one. Binds are known by their number, from 1; number 0 is the allocation. Thread-safe.
 */
public abstract class IbvMemoryWindow implements MemoryWindow {
    private static final int COUNTED_BITS = 0xFF;

    private final ProtectionDomain domain;
    private final Runnable whenClosed;
    private final int firstKey;
    /** Binds that were posted and not taken back. */
    private final AtomicLong binds = new AtomicLong();
    /** The bind whose key the driver has, if no bind fails that is not known to. */
    private final AtomicLong held = new AtomicLong();

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

    /** The bind whose key the driver has, unless one fails that has not been polled: the next one is to name its key. */
    public final long held() {
        return held.get();
    }

    /**
     * A bind is about to be posted.
     *
     * @return its number
     */
    protected final long nextBind() {
        long before = held.get();
        long bind = binds.incrementAndGet();
        if (key(bind) == key(before)) {
            bind = binds.incrementAndGet(); // so many have failed that the driver's key is the next one again
        }
        held.set(bind);
        return bind;
    }

    /**
     * The last bind was not posted after all.
     *
     * @param bind its number
     * @param before {@link #held} before it
     */
    public final void takeBack(long bind, long before) {
        binds.decrementAndGet();
        failed(bind, before);
    }

    /**
     * A bind has failed.
     *
     * @param bind its number
     * @param before {@link #held} before it
     */
    public final void failed(long bind, long before) {
        held.updateAndGet(now -> now >= bind ? before : now);
    }

    /**
     * The key that a bind gives the window.
     *
     * @param bind its number
     */
    public final int key(long bind) {
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
