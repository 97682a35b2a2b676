package org.softrdma.sim.memory;

/**
 * One registration of memory: where it is, and whether it still stands. An engine that keeps an address from one batch to
 * the next keeps the binding with it and asks {@link #isAlive()} before it touches the address again.
 */
public final class Binding {
    private final long address;
    private final boolean lazy;
    private volatile boolean alive = true;

    Binding(long address, boolean lazy) {
        this.address = address;
        this.lazy = lazy;
    }

    /** True if its pages are pinned on first use. */
    public boolean isLazy() {
        return lazy;
    }

    /** First raw address. */
    public long address() {
        return address;
    }

    /** False once deregistration has begun. Within one batch true stays safe until the batch ends. */
    public boolean isAlive() {
        return alive;
    }

    void kill() {
        alive = false;
    }
}
