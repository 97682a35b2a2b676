package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.pinning.PageRange;
import org.softrdma.sim.pinning.PinTable;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.provider.HostMemories;

/** Pins the pages of regions as their policy says. Thread-safe. */
final class RegionPins {
    private final PinTable pins;

    RegionPins(PinTable pins) {
        this.pins = pins;
    }

    /**
     * A region begins.
     *
     * @param policy in force
     * @param binding its memory, which no engine uses before this returns
     * @param backing the same
     * @throws org.softrdma.verbs.VerbsException {@code NO_RESOURCES} if it cannot be pinned; then nothing has changed
     */
    void start(PinningPolicy policy, Binding binding, RegionBacking backing) {
        switch (policy) {
            case LAZY -> pins.add(granules(backing));
            case EAGER -> pins.addEager(binding, pages(backing.segment()));
            case OFF, AUTO -> {
                // Nothing is pinned.
            }
        }
        pins.registered(backing.segment().byteSize());
    }

    /** A region has ended, or its memory is another now; no engine uses it any more. */
    void end(PinningPolicy policy, Binding binding, RegionBacking backing) {
        switch (policy) {
            case LAZY -> pins.remove(binding, granules(backing));
            case EAGER -> pins.removeEager(binding, pages(backing.segment()));
            case OFF, AUTO -> {
                // Nothing was pinned.
            }
        }
        pins.registered(-backing.segment().byteSize());
    }

    /**
     * Whole granules of memory that the device allocated; of other memory only the registered part is known to be
     * mapped.
     */
    PageRange granules(RegionBacking backing) {
        HostMemories.Allocation owner = backing.owner();
        MemorySegment segment = backing.segment();
        return owner == null
                ? pages(segment)
                : pins.pages(segment.address(), segment.byteSize(), owner.address(), owner.end());
    }

    private PageRange pages(MemorySegment segment) {
        long from = segment.address();
        return pins.pages(from, segment.byteSize(), from, from + segment.byteSize());
    }
}
