package org.softrdma.farm.space;

import java.util.Iterator;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.agrona.collections.Int2IntHashMap;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.membership.Rings;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.FarmSlabs;
import org.softrdma.stores.MemorySteps;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * One machine's part of the shared address space. An object has the same address on every machine that has its region.
 * The node's thread.
 */
public final class FarmSpace implements AutoCloseable {
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final SpaceShape shape;
    private final MemorySteps steps;
    private final int machine;
    private final SortedMap<Integer, FarmRegion> regions = new TreeMap<>();
    /** The same, for reads. */
    private final Int2ObjectHashMap<FarmRegion> byNumber = new Int2ObjectHashMap<>();

    private final Int2ObjectHashMap<RemoteRegion> capabilities = new Int2ObjectHashMap<>();
    private final Int2IntHashMap primaries = new Int2IntHashMap(RegionPlacement.LOST);
    private final IntHashSet ready = new IntHashSet();
    private FarmConfiguration configuration = FarmConfiguration.NONE;

    /**
     * A machine without regions.
     *
     * @param device of the machine
     * @param domain of its queue pairs
     * @param shape of the space
     * @param steps writes
     * @param machine its number
     */
    public FarmSpace(VerbsDevice device, ProtectionDomain domain, SpaceShape shape, MemorySteps steps, int machine) {
        this.device = device;
        this.domain = domain;
        this.shape = shape;
        this.steps = steps;
        this.machine = machine;
    }

    /** Its lengths. */
    public SpaceShape shape() {
        return shape;
    }

    /** Who has what. */
    public FarmConfiguration configuration() {
        return configuration;
    }

    /**
     * Makes the regions that this machine has now, and gives up those that it has no more. Capabilities hold for one epoch.
     * A region that this machine becomes primary of by an epoch is not {@link #serves served} before its locks are recovered,
     * each time; one that is made within an epoch is empty. Reservations are void: nothing is allocated before the
     * {@link #transactionsRecovered transactions} of older epochs are over.
     */
    public void onConfiguration(FarmConfiguration told) {
        boolean sameEpoch = told.epoch() == configuration.epoch();
        if (!sameEpoch) {
            capabilities.clear();
            regions.values().forEach(FarmRegion::allocatesNoMore);
        }
        FarmConfiguration before = configuration;
        configuration = told;
        primaries.clear();
        for (int region : told.regions().keySet()) {
            int primary = told.primary(region);
            if (primary != RegionPlacement.LOST) {
                primaries.put(region, primary);
            }
        }
        ready.removeIfInt(region -> !isPrimary(region));
        for (Iterator<Map.Entry<Integer, FarmRegion>> each = regions.entrySet().iterator(); each.hasNext(); ) {
            Map.Entry<Integer, FarmRegion> entry = each.next();
            if (!has(entry.getKey())) {
                entry.getValue().close();
                byNumber.remove((int) entry.getKey());
                each.remove();
            }
        }
        for (int region : told.regions().keySet()) {
            if (has(region) && !regions.containsKey(region)) {
                FarmRegion made = new FarmRegion(device, domain, shape, steps, isPrimary(region));
                regions.put(region, made);
                byNumber.put(region, made);
            }
            if (sameEpoch && !before.regions().containsKey(region) && isPrimary(region)) {
                ready.add(region);
            }
        }
    }

    private boolean has(int region) {
        RegionPlacement placement = configuration.regions().get(region);
        return placement != null && placement.machines().contains(machine);
    }

    /** True if this machine is the primary of a region. */
    public boolean isPrimary(int region) {
        return primary(region) == machine;
    }

    /** The primary of a region, or {@link RegionPlacement#LOST}, also if there is no such region. */
    public int primary(int region) {
        return primaries.get(region);
    }

    /** True if it is that, and knows what is locked there. */
    public boolean serves(int region) {
        return ready.contains(region);
    }

    /** What is in doubt in the regions that this machine is primary of is locked: it serves them. */
    public void locksRecovered() {
        for (int region : configuration.regions().keySet()) {
            if (isPrimary(region)) {
                ready.add(region);
            }
        }
    }

    /** All transactions of older epochs are over: this machine knows what is free in the regions that it serves. */
    public void transactionsRecovered() {
        regions.forEach((number, region) -> {
            if (serves(number)) {
                region.allocatesAgain();
            }
        });
    }

    /** A region that this machine has, or null. */
    public @Nullable FarmRegion region(int number) {
        return byNumber.get(number);
    }

    /** The region that an address is in, if this machine has it and an object of this length fits there; else null. */
    public @Nullable FarmRegion regionOf(long address, int length) {
        return fits(address, length) ? region(FarmAddress.region(address)) : null;
    }

    /** True if an object of this length may be at an address. */
    public boolean fits(long address, int length) {
        return length > 0
                && length <= shape.longest()
                && contains(address, shape.lengthInMemory(FarmAddress.offset(address), length));
    }

    /** True if so many bytes of objects may be at an address. */
    public boolean contains(long address, int bytes) {
        long offset = FarmAddress.offset(address);
        return bytes > 0 && offset % FarmObjectDescriptor.ALIGNMENT == 0 && offset + bytes <= shape.regionLength();
    }

    // ---- capabilities

    /** What this epoch's primary has told of its region, or null. */
    public @Nullable RemoteRegion capability(int region) {
        return capabilities.get(region);
    }

    /** The primary of a region has told it. */
    public void learn(int region, RemoteRegion capability) {
        capabilities.put(region, capability);
    }

    /** It was of no use: ask again. */
    public void forget(int region) {
        capabilities.remove(region);
    }

    // ---- allocation

    /** True if this machine knows what is free in all regions that it serves: not before an epoch is recovered. */
    public boolean knowsWhatIsFree() {
        for (Map.Entry<Integer, FarmRegion> entry : regions.entrySet()) {
            if (serves(entry.getKey()) && !entry.getValue().allocates()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Reserves room in a region that this machine serves: in the same block as a hint, in the same region, in another one
     * of the same ring, or anywhere.
     *
     * @param length of header and payload
     * @param hint address of an object that it is to be near, or {@link FarmAddress#NONE}
     * @return its address, or {@link FarmAddress#NONE} if no region here has room
     */
    public long allocate(int length, long hint) {
        long address = FarmAddress.NONE;
        if (hint != FarmAddress.NONE) {
            address = allocateIn(FarmAddress.region(hint), length, FarmAddress.offset(hint));
            for (int pass = 0; pass < 2 && address == FarmAddress.NONE; pass++) {
                address = allocateInRing(Rings.ring(FarmAddress.region(hint)), pass == 0, length);
            }
        }
        Iterator<Integer> each = regions.keySet().iterator();
        while (hint == FarmAddress.NONE && address == FarmAddress.NONE && each.hasNext()) {
            address = allocateIn(each.next(), length, 0);
        }
        return address;
    }

    private long allocateInRing(int ring, boolean same, int length) {
        for (int region : regions.keySet()) {
            if (Rings.ring(region) == ring == same) {
                long address = allocateIn(region, length, 0);
                if (address != FarmAddress.NONE) {
                    return address;
                }
            }
        }
        return FarmAddress.NONE;
    }

    private long allocateIn(int number, int length, long neighbour) {
        FarmRegion region = region(number);
        if (region == null || !serves(number)) {
            return FarmAddress.NONE;
        }
        long offset = region.allocate(length, neighbour);
        return offset == FarmSlabs.FULL ? FarmAddress.NONE : FarmAddress.of(number, offset);
    }

    /**
     * A number for one more region of this machine.
     *
     * @param rings of the space
     * @param ring which of them is tried first
     * @return the number, or {@link Rings#NONE}
     */
    public int newRegion(Rings rings, int ring) {
        SortedSet<Integer> used = new TreeSet<>(configuration.regions().keySet());
        int region = Rings.NONE;
        for (int i = 0; i < rings.count() && region == Rings.NONE; i++) {
            region = Rings.region(machine, (ring + i) % rings.count(), configuration.members(), used);
        }
        return region;
    }

    @Override
    public void close() {
        regions.values().forEach(FarmRegion::close);
        regions.clear();
        byNumber.clear();
    }
}
