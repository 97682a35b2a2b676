package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.memory.RegionObserver;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.DomainContents;

/**
 * Changes registrations. Everything that can be refused is done first: then the keys are taken back, and once no engine
 * is left that has found them, the row says something else, and the keys are valid again. In between a peer that uses
 * them is refused, and so loses its connection; it could not tell what it would get. Thread-safe, one change of a region
 * at a time.
 */
final class Reregistrar {
    private final StagTable table;
    private final Quiescence quiescence;
    private final RegionPins pins;
    private final RegionObserver regions;

    Reregistrar(StagTable table, Quiescence quiescence, RegionPins pins, RegionObserver regions) {
        this.table = table;
        this.quiescence = quiescence;
        this.pins = pins;
        this.regions = regions;
    }

    /**
     * Changes a registration.
     *
     * @param region open, and not swapped meanwhile
     * @param change what changes
     * @param domain its domain from now on
     */
    void change(SoftMemoryRegion region, Reregistration change, DeviceDomain domain) {
        MemorySegment wanted = change.memory();
        Set<AccessFlag> wantedAccess = change.access();
        Set<AccessFlag> access = wantedAccess == null ? region.access() : wantedAccess;
        RegionBacking before = region.backing();
        if (before.foreign() == null) {
            RegistrationRules.check(wanted == null ? before.segment() : wanted, access);
        } else if (wanted == null) {
            RegistrationRules.checkForeign(before, access);
        } else {
            throw new IllegalArgumentException(
                    "reregister: memory of " + before.foreign().memory() + " stays what it is; deregister it instead");
        }
        domain.opened(DomainContents.Kind.MEMORY_REGION); // once more, also if it is the same one
        DeviceDomain left = domain;
        try {
            left = changeMemory(region, wanted, access, domain);
        } finally {
            left.closed(DomainContents.Kind.MEMORY_REGION);
        }
    }

    /** Returns the domain that the region does not belong to any more. */
    private DeviceDomain changeMemory(
            SoftMemoryRegion region, @Nullable MemorySegment wanted, Set<AccessFlag> access, DeviceDomain domain) {
        DeviceDomain before = region.protectionDomain();
        RegionBacking left = wanted == null ? region.backing().again() : RegionBacking.acquire(wanted);
        left.registered(regions);
        try {
            RegionBacking old = region.backing();
            replace(region, left, access, domain);
            left = old;
            return before;
        } finally {
            left.deregistered(regions);
            left.release();
        }
    }

    private void replace(SoftMemoryRegion region, RegionBacking backing, Set<AccessFlag> access, DeviceDomain domain) {
        PinningPolicy pinning = backing.pinning(region.policy());
        int rights = backing.rights(access, region.policy());
        long base = backing.base(access, regions);
        Set<AccessFlag> granted = AccessRights.granted(access);
        Binding binding = backing.binding(rights);
        StagTable.Place place = new StagTable.Place(base, backing.segment().byteSize(), rights, domain.number());
        pins.start(pinning, binding, backing);
        int row = region.row();
        Binding old = table.binding(row);
        if (!table.suspend(row)) {
            pins.end(pinning, binding, backing);
            throw new VerbsException(
                    VerbsErrorCode.BUSY, "reregister: memory windows are bound to the region; invalidate them first");
        }
        quiescence.await(); // after this no engine uses the old memory
        pins.end(region.pinning(), old, region.backing());
        table.resume(row, binding, place);
        region.changed(
                domain, granted, new SoftMemoryRegion.Place(row, table.lkey(row), table.rkey(row), base), backing);
    }
}
