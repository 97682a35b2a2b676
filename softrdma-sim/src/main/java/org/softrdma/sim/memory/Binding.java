package org.softrdma.sim.memory;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One registration of memory: where it is, and whether it is still in force. An engine that keeps an address from one
 * batch to the next keeps the binding with it, and asks {@link #isAlive()} before it uses the address again.
 *
 * <p>The binding refers to the memory, and the stag table refers to the binding while the key lives. A peer reaches
 * memory by its key alone, so the garbage collector must not free memory that the application dropped without
 * deregistering it. That of a window refers to its region's, which outlives it.
 */
public final class Binding {
    /**
     * Of a region: its memory, which is held so, or the process whose memory it is. One field for both, because each bind of
     * a window makes such an object.
     */
    private @Nullable Object holder;

    private final long address;
    private final Binding region;
    private final boolean lazy;
    private final boolean polled;
    private volatile boolean alive = true;

    /**
     * Of a new row.
     *
     * @param memory registered
     * @param rights of the row, {@link AccessRights}
     */
    public Binding(MemorySegment memory, int rights) {
        holder = memory;
        address = memory.address();
        region = this;
        lazy = (rights & AccessRights.LAZY) != 0;
        polled = (rights & AccessRights.POLLED) != 0;
    }

    /**
     * Of memory of another process. Nothing of it can be pinned from here, and the kernel does not move it by whole words.
     *
     * @param memory registered
     */
    public Binding(ForeignMemory memory) {
        holder = memory.owner();
        address = memory.address();
        region = this;
        lazy = false;
        polled = false;
    }

    /**
     * Of a window that is being bound.
     *
     * @param region of the region
     * @param address first raw address of the window
     * @param rights of its row, {@link AccessRights}
     */
    Binding(Binding region, long address, int rights) {
        this.region = region;
        this.address = address;
        lazy = (rights & AccessRights.LAZY) != 0;
        polled = (rights & AccessRights.POLLED) != 0;
    }

    /** The binding of the region that the memory belongs to. */
    public Binding region() {
        return region;
    }

    /** Whose memory it is; null for this process. */
    public @Nullable ForeignProcess owner() {
        return region.holder instanceof ForeignProcess process ? process : null;
    }

    /** True if the last copy has found that the process whose memory it is has ended. */
    public boolean ownerHasEnded() {
        ForeignProcess process = owner();
        return process != null && process.hasEnded();
    }

    /** True if its pages are pinned on first use. */
    public boolean isLazy() {
        return lazy;
    }

    /** True if it is moved by whole words. */
    public boolean isPolled() {
        return polled;
    }

    /** First raw address. */
    public long address() {
        return address;
    }

    /** False once deregistration has begun. If true, the memory may be used until the current batch ends. */
    public boolean isAlive() {
        return alive;
    }

    void kill() {
        alive = false;
    }

    /** No engine uses the memory any more: lets it go, even if something still refers to this binding. */
    void letGo() {
        if (holder instanceof MemorySegment) {
            holder = null;
        }
    }
}
