package org.softrdma.sanitiser.watch;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;

/** Watches the regions of a protection domain: registered, exchanged, closed. Thread-safe. */
public final class RegionWatch {
    private final Watch watch;
    private final RegionTable regions = new RegionTable();

    /**
     * Of a new domain.
     *
     * @param watch shared
     */
    public RegionWatch(Watch watch) {
        this.watch = watch;
    }

    /** The regions by their keys. */
    public RegionTable regions() {
        return regions;
    }

    /**
     * A region was registered.
     *
     * @param region the provider's
     * @param memory what was registered
     * @param asked what the program asked for
     */
    public RegionRecord registered(MemoryRegion region, MemorySegment memory, Set<AccessFlag> asked) {
        RegionRecord record = new RegionRecord(region, memory, asked);
        regions.opened(record);
        watch.memory().opened(record);
        return record;
    }

    /**
     * Two regions have exchanged their memory.
     *
     * @param one a region
     * @param other another one
     */
    public void swapped(RegionRecord one, RegionRecord other) {
        watch.memory().swapped(one, other);
    }

    /**
     * A region has left this domain's keys, because it was registered anew.
     *
     * @param region as it was
     */
    public void left(RegionRecord region) {
        regions.closed(region);
        watch.memory().closed(region);
    }

    /**
     * A region is about to be closed, or registered anew: requests that name it may go wrong.
     *
     * @param what happens to it
     */
    public List<Finding> stillNamed(RegionRecord region, String what) {
        List<OutstandingRequest> outstanding = watch.memory().outstandingOn(region).stream()
                .filter(request -> request.queuePair().isAlive())
                .toList();
        if (outstanding.isEmpty()) {
            return List.of();
        }
        OutstandingRequest first = outstanding.getFirst();
        return List.of(new Finding(
                Rule.DEREGISTERED_WHILE_OUTSTANDING,
                "a region is " + what + ", and the completions of " + outstanding.size()
                        + " requests that name it were not polled yet",
                first.queuePair().ends(),
                first.name(),
                region.part(0, 0),
                CallSite.calls()));
    }

    /** A region is about to be closed. The findings are for the caller to report, once it is closed. */
    public List<Finding> closing(RegionRecord region) {
        List<Finding> found = new ArrayList<>(stillNamed(region, "closed"));
        if (region.isMemoryGone()) {
            found.add(new Finding(
                    Rule.ARENA_CLOSED,
                    "the memory of a region was freed before the region was closed",
                    null,
                    null,
                    region.part(0, 0),
                    CallSite.calls()));
        }
        left(region);
        return found;
    }
}
