package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.provider.Closing;

/** A memory region: the application's handle of a row in the stag table. Thread-safe. */
final class SoftMemoryRegion implements MemoryRegion {
    private final Registrar keeper;
    private final PinningPolicy policy;
    private final Closing closing = new Closing();
    // Reregistration changes them, and nobody may use the region meanwhile.
    private volatile DeviceDomain domain;
    private volatile Set<AccessFlag> access;
    private volatile Place place;
    /** Segment and owner change together on swap, under the keeper's lock. */
    private volatile RegionBacking backing;
    /** It is being reregistered. Under the keeper's lock. */
    private boolean changing;

    /**
     * A region whose row is filled in.
     *
     * @param keeper of the device
     * @param policy what pinning it has, unless its memory is resident
     * @param access its rights
     * @param place its row and keys
     * @param backing its memory
     */
    SoftMemoryRegion(
            Registrar keeper,
            DeviceDomain domain,
            PinningPolicy policy,
            Set<AccessFlag> access,
            Place place,
            RegionBacking backing) {
        this.keeper = keeper;
        this.domain = domain;
        this.policy = policy;
        this.access = access;
        this.place = place;
        this.backing = backing;
    }

    @Override
    public DeviceDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemorySegment memory() {
        checkOpen();
        RegionBacking current = backing;
        if (current.foreign() != null) {
            throw new UnsupportedOperationException(
                    "it is memory of " + current.foreign().memory());
        }
        return current.segment();
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
        return backing.segment().byteSize();
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
        return backing.coherentUnit(access);
    }

    @Override
    public PinningPolicy pinning() {
        return backing.pinning(policy);
    }

    @Override
    public PinningCounters pinningCounters() {
        checkOpen();
        return keeper.counters(this);
    }

    @Override
    public void unpin() {
        checkOpen();
        keeper.unpin(this);
    }

    @Override
    public void swap(MemoryRegion other) {
        domain.require(Feature.REGION_SWAP, "swap");
        if (!(other instanceof SoftMemoryRegion theirs) || theirs.domain != domain) {
            throw new IllegalArgumentException("swap: the regions belong to different protection domains");
        }
        keeper.swap(this, theirs);
    }

    @Override
    public void reregister(Reregistration change) {
        domain.require(Feature.REREGISTRATION, "reregister");
        keeper.reregister(this, change);
    }

    @Override
    public void close() {
        closing.once(() -> keeper.deregister(this));
    }

    boolean isClosed() {
        return closing.hasBegun();
    }

    /** It could not be closed. Within the close. */
    void stillOpen() {
        closing.stillOpen();
    }

    boolean isChanging() {
        return changing;
    }

    void changing(boolean now) {
        changing = now;
    }

    /** The policy for memory that is not resident. */
    PinningPolicy policy() {
        return policy;
    }

    /** It was reregistered. */
    void changed(DeviceDomain newDomain, Set<AccessFlag> newAccess, Place newPlace, RegionBacking newBacking) {
        domain = newDomain;
        access = newAccess;
        place = newPlace;
        backing = newBacking;
    }

    int row() {
        return place.row;
    }

    RegionBacking backing() {
        return backing;
    }

    void backing(RegionBacking newBacking) {
        backing = newBacking;
    }

    @Override
    public String toString() {
        return "MemoryRegion[0x" + Long.toHexString(place.base) + "+" + length() + " " + access + " " + pinning() + "]";
    }

    /**
     * Where the stag table has a region.
     *
     * @param lkey the key in local scatter/gather entries
     * @param rkey the key for peers
     * @param base the address of its first byte, as entries and peers name it
     */
    record Place(int row, int lkey, int rkey, long base) {}
}
