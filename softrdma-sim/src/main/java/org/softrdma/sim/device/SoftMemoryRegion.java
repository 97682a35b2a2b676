package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.provider.Closing;
import org.softrdma.verbs.provider.HostMemories;

/** A row of the stag table as the application holds it. Thread-safe. */
final class SoftMemoryRegion implements MemoryRegion {
    private final Registrar registrar;
    private final ProtectionDomain domain;
    private final Set<AccessFlag> access;
    private final PinningPolicy pinning;
    private final int row;
    private final int lkey;
    private final int rkey;
    private final long base;
    private final Closing closing = new Closing();
    /** Both change together on swap, under the registrar's lock. */
    private volatile Backing backing;

    SoftMemoryRegion(
            Registrar registrar,
            ProtectionDomain domain,
            Set<AccessFlag> access,
            PinningPolicy pinning,
            int row,
            int lkey,
            int rkey,
            long base,
            Backing backing) {
        this.registrar = registrar;
        this.domain = domain;
        this.access = access;
        this.pinning = pinning;
        this.row = row;
        this.lkey = lkey;
        this.rkey = rkey;
        this.base = base;
        this.backing = backing;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemorySegment memory() {
        checkOpen();
        return backing.segment;
    }

    private void checkOpen() {
        if (isClosed()) {
            throw new IllegalStateException("the memory region is closed");
        }
    }

    @Override
    public long address() {
        return base;
    }

    @Override
    public long length() {
        return backing.segment.byteSize();
    }

    @Override
    public int lkey() {
        return lkey;
    }

    @Override
    public int rkey() {
        return rkey;
    }

    @Override
    public Set<AccessFlag> access() {
        return access;
    }

    @Override
    public PinningPolicy pinning() {
        return pinning;
    }

    @Override
    public PinningCounters pinningCounters() {
        checkOpen();
        return registrar.counters(this);
    }

    @Override
    public void unpin() {
        checkOpen();
        registrar.unpin(this);
    }

    @Override
    public void swap(MemoryRegion other) {
        if (!(other instanceof SoftMemoryRegion theirs) || theirs.domain != domain) {
            throw new IllegalArgumentException("swap: the regions are of different protection domains");
        }
        registrar.swap(this, theirs);
    }

    @Override
    public void close() {
        closing.once(() -> registrar.deregister(this));
    }

    boolean isClosed() {
        return closing.hasBegun();
    }

    int row() {
        return row;
    }

    Backing backing() {
        return backing;
    }

    void backing(Backing newBacking) {
        backing = newBacking;
    }

    @Override
    public String toString() {
        return "MemoryRegion[0x" + Long.toHexString(base) + "+" + length() + " " + access + " " + pinning + "]";
    }

    /**
     * The memory behind a region.
     *
     * @param segment the memory
     * @param owner the memory of a device it lies in, which must not be freed before; null for foreign memory
     */
    record Backing(MemorySegment segment, HostMemories.@Nullable Allocation owner) {}
}
