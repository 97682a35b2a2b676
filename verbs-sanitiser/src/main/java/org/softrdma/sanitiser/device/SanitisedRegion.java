package org.softrdma.sanitiser.device;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
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

/** A memory region. Any thread. */
final class SanitisedRegion implements MemoryRegion {
    private final MemoryRegion region;
    private final ProtectionDomain domain;
    private final RegionRecord record;
    private final RegionWatch watch;
    private final Reporter reporter;
    private final Lifetime lifetime;

    SanitisedRegion(
            MemoryRegion region,
            ProtectionDomain domain,
            RegionRecord record,
            RegionWatch watch,
            Reporter reporter,
            Lifetime lifetime) {
        this.region = region;
        this.domain = domain;
        this.record = record;
        this.watch = watch;
        this.reporter = reporter;
        this.lifetime = lifetime;
    }

    /** The provider's region. */
    static MemoryRegion bare(MemoryRegion region) {
        return region instanceof SanitisedRegion sanitised ? sanitised.region : region;
    }

    RegionRecord record() {
        return record;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
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
            watch.swapped(record, sanitised.record);
        }
    }

    @Override
    public void close() {
        List<Finding> found = lifetime.end() ? watch.closing(record) : List.of();
        region.close();
        reporter.report(found);
    }

    @Override
    public String toString() {
        return region.toString();
    }
}
