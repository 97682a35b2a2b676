package org.softrdma.sim.memory;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One registration of memory: where it is, and whether it still stands. An engine that keeps an address from one batch to
 * the next keeps the binding with it and asks {@link #isAlive()} before it touches the address again.
 *
 * <p>It refers to the memory, and the stag table to it while the key lives: a peer reaches memory by its key alone, so what the
 * application has dropped without deregistering it must not be freed by the garbage collector.
 */
public final class Binding {
    /** Held, not read. */
    @SuppressWarnings("UnusedVariable")
    private @Nullable MemorySegment memory;

    private final long address;
    private final boolean lazy;
    private volatile boolean alive = true;

    Binding(MemorySegment memory, boolean lazy) {
        this.memory = memory;
        address = memory.address();
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

    /** No engine uses the memory any more, whoever still refers to this. */
    void letGo() {
        memory = null;
    }
}
