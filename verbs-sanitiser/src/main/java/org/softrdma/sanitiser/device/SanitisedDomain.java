package org.softrdma.sanitiser.device;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.function.BiFunction;
import org.softrdma.sanitiser.watch.AddressHandleWatch;
import org.softrdma.sanitiser.watch.RegionRecord;
import org.softrdma.sanitiser.watch.RegionWatch;
import org.softrdma.sanitiser.watch.SharedReceiveWatch;
import org.softrdma.sanitiser.watch.Watch;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.UnconnectedQueuePair;

/** A protection domain. Any thread. */
final class SanitisedDomain implements SanitisedRegion.Home {
    private final ProtectionDomain domain;
    private final Watch watch;
    private final int device;
    private final String deviceName;
    private final Wrappers wrappers;
    /** Makes its queue pairs without a connection manager. */
    private final BiFunction<ProtectionDomain, QueuePairAttributes, UnconnectedQueuePair> unconnected;

    private final RegionWatch regions;
    private final Lifetime lifetime;

    SanitisedDomain(
            ProtectionDomain domain,
            Watch watch,
            int device,
            String deviceName,
            Wrappers wrappers,
            BiFunction<ProtectionDomain, QueuePairAttributes, UnconnectedQueuePair> unconnected) {
        this.unconnected = unconnected;
        this.domain = domain;
        this.watch = watch;
        this.device = device;
        this.deviceName = deviceName;
        this.wrappers = wrappers;
        regions = new RegionWatch(watch);
        lifetime = Lifetime.of(watch.open(), device, "protection domain");
    }

    @Override
    public ProtectionDomain bare() {
        return domain;
    }

    RegionWatch regions() {
        return regions;
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
        return sanitised(domain.register(memory, access), memory, access);
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access, PinningPolicy pinning) {
        return sanitised(domain.register(memory, access, pinning), memory, access);
    }

    private MemoryRegion sanitised(MemoryRegion region, MemorySegment memory, Set<AccessFlag> access) {
        RegionRecord record = regions.registered(region, memory, access);
        Lifetime ofRegion = Lifetime.of(watch.open(), device, record.toString());
        return new SanitisedRegion(
                region, new SanitisedRegion.Place(this, record, regions), watch.reporter(), ofRegion);
    }

    @Override
    public SanitisedRegion.Place place(MemoryRegion bare, MemorySegment memory, Set<AccessFlag> asked) {
        return new SanitisedRegion.Place(this, regions.registered(bare, memory, asked), regions);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int maxWorkRequests, int maxScatterGather) {
        SharedReceiveQueue bare = domain.createSharedReceiveQueue(maxWorkRequests, maxScatterGather);
        SharedReceiveWatch watched = new SharedReceiveWatch(watch, deviceName, regions.regions());
        Lifetime ofQueue =
                Lifetime.of(watch.open(), device, "shared receive queue of " + bare.maxWorkRequests() + " RECVs");
        return new SanitisedSharedReceiveQueue(bare, this, watched, wrappers, ofQueue);
    }

    @Override
    public UnconnectedQueuePair createQueuePair(QueuePairAttributes attributes) {
        return unconnected.apply(this, attributes);
    }

    @Override
    public AddressHandle createAddressHandle(InetSocketAddress host) {
        AddressHandle bare = domain.createAddressHandle(host);
        return new SanitisedAddressHandle(
                bare,
                this,
                new AddressHandleWatch(watch, bare),
                Lifetime.of(watch.open(), device, "address handle of " + host));
    }

    @Override
    public MemoryWindow allocateWindow() {
        MemoryWindow bare = domain.allocateWindow();
        return new SanitisedWindow(bare, this, Lifetime.of(watch.open(), device, "memory window"));
    }

    @Override
    public void advise(Advice advice, boolean wait, long address, long length, int lkey) {
        domain.advise(advice, wait, address, length, lkey);
    }

    @Override
    public void close() {
        domain.close();
        lifetime.end();
    }

    @Override
    public String toString() {
        return domain.toString();
    }
}
