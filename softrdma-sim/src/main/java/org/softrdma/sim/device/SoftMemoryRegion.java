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

/** A memory region: the application's handle of a row in the stag table. Thread-safe. */
final class SoftMemoryRegion implements MemoryRegion {
    private final Registrar registrar;
    private final ProtectionDomain domain;
    private final Set<AccessFlag> access;
    private final PinningPolicy pinning;
    private final Place place;
    private final Closing closing = new Closing();
    /** Segment and owner change together on swap, under the registrar's lock. */
    private volatile Backing backing;

    SoftMemoryRegion(
            Registrar registrar,
            ProtectionDomain domain,
            Set<AccessFlag> access,
            PinningPolicy pinning,
            Place place,
            Backing backing) {
        this.registrar = registrar;
        this.domain = domain;
        this.access = access;
        this.pinning = pinning;
        this.place = place;
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
        return place.base;
    }

    @Override
    public long length() {
        return backing.segment.byteSize();
    }

    @Override
    public int lkey() {
        return place.lkey;
    }

    @Override
    public int rkey() {
        return place.rkey;
    }

    @Override
    public Set<AccessFlag> access() {
        return access;
    }

    @Override
    public int coherentUnit() {
        return access.contains(AccessFlag.POLLED) ? Long.BYTES : 0;
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
            throw new IllegalArgumentException("swap: the regions belong to different protection domains");
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
        return place.row;
    }

    Backing backing() {
        return backing;
    }

    void backing(Backing newBacking) {
        backing = newBacking;
    }

    @Override
    public String toString() {
        return "MemoryRegion[0x" + Long.toHexString(place.base) + "+" + length() + " " + access + " " + pinning + "]";
    }

    /**
     * Where the stag table has a region, for its whole life.
     *
     * @param row its row
     * @param lkey the key in local scatter/gather entries
     * @param rkey the key for peers
     * @param base the address of its first byte, as entries and peers name it
     */
    record Place(int row, int lkey, int rkey, long base) {}

    /**
     * The memory behind a region.
     *
     * @param segment the memory
     * @param owner the device allocation that contains it, which must not be freed before; null for other memory
     */
    record Backing(MemorySegment segment, HostMemories.@Nullable Allocation owner) {}
}
