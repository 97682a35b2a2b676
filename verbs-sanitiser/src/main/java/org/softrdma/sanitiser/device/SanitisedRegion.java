package org.softrdma.sanitiser.device;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Reporter;
import org.softrdma.sanitiser.watch.RegionRecord;
import org.softrdma.sanitiser.watch.RegionWatch;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** A memory region. Any thread. */
final class SanitisedRegion implements MemoryRegion {
    private final MemoryRegion region;
    private final Reporter reporter;
    private final Lifetime lifetime;
    private volatile Place place;

    /**
     * Where it is registered, and how; another one once it is registered anew.
     *
     * @param record what is remembered of it
     * @param watch of the domain
     */
    record Place(Home domain, RegionRecord record, RegionWatch watch) {}

    /** The domain of regions: where they go when they are registered anew. */
    interface Home extends ProtectionDomain {
        /** The provider's domain. */
        ProtectionDomain bare();

        /**
         * A region was registered anew, and is in this domain now.
         *
         * @param region the provider's
         * @param memory what is registered
         * @param asked the rights and intents that the program asked for
         */
        Place place(MemoryRegion region, MemorySegment memory, Set<AccessFlag> asked);
    }

    SanitisedRegion(MemoryRegion region, Place place, Reporter reporter, Lifetime lifetime) {
        this.region = region;
        this.place = place;
        this.reporter = reporter;
        this.lifetime = lifetime;
    }

    /** The provider's region. */
    static MemoryRegion bare(MemoryRegion region) {
        return region instanceof SanitisedRegion sanitised ? sanitised.region : region;
    }

    RegionRecord record() {
        return place.record;
    }

    /** What is remembered of a region; null if no sanitiser has it. */
    static @Nullable RegionRecord record(MemoryRegion region) {
        return region instanceof SanitisedRegion sanitised ? sanitised.record() : null;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return place.domain;
    }

    @Override
    public MemorySegment memory() {
        return region.memory();
    }

    @Override
    public long address() {
        return region.address();
    }

    @Override
    public long length() {
        return region.length();
    }

    @Override
    public int lkey() {
        return region.lkey();
    }

    @Override
    public int rkey() {
        return region.rkey();
    }

    @Override
    public Set<AccessFlag> access() {
        return region.access();
    }

    @Override
    public int coherentUnit() {
        return region.coherentUnit();
    }

    @Override
    public RemoteRegion remote() {
        return region.remote();
    }

    @Override
    public PinningPolicy pinning() {
        return region.pinning();
    }

    @Override
    public PinningCounters pinningCounters() {
        return region.pinningCounters();
    }

    @Override
    public void unpin() {
        region.unpin();
    }

    @Override
    public void checkRange(long offset, long length) {
        region.checkRange(offset, length);
    }

    @Override
    public void swap(MemoryRegion other) {
        region.swap(bare(other));
        if (other instanceof SanitisedRegion sanitised) {
            place.watch.swapped(record(), sanitised.record());
        }
    }

    @Override
    public void reregister(Reregistration change) {
        Place before = place;
        Home next = change.domain() instanceof Home home ? home : before.domain;
        ProtectionDomain bare = change.domain() instanceof Home home ? home.bare() : change.domain();
        List<Finding> found = before.watch.stillNamed(before.record, "registered anew");
        region.reregister(new Reregistration(change.memory(), bare, change.access()));
        before.watch.left(before.record);
        place = next.place(region, region.memory(), Objects.requireNonNullElse(change.access(), before.record.asked()));
        reporter.report(found);
    }

    @Override
    public void close() {
        boolean first = lifetime.end();
        List<Finding> found = first ? place.watch.closing(record()) : List.of();
        try {
            region.close();
        } catch (VerbsException e) {
            if (first && e.code() == VerbsErrorCode.BUSY) {
                place = place.domain.place(region, region.memory(), record().asked());
                lifetime.goesOn();
            }
            throw e;
        }
        reporter.report(found);
    }

    @Override
    public String toString() {
        return region.toString();
    }
}
