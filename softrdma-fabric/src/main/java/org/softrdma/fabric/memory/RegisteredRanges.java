package org.softrdma.fabric.memory;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.sim.memory.RegionObserver;

/** The registered memory of all nodes: what others can see while a device copies. */
public final class RegisteredRanges implements RegionObserver {
    private static final int LARGEST_CHECKED = 1 << 24;

    private final Scheduler scheduler;
    private final VirtualAddresses addresses;
    /** Regions by the first address, and those of one first address by their end. */
    private final TreeMap<Long, TreeMap<Long, Integer>> ranges = new TreeMap<>();

    /**
     * Nothing is registered.
     *
     * @param scheduler has the trace
     * @param addresses names of the memory
     */
    public RegisteredRanges(Scheduler scheduler, VirtualAddresses addresses) {
        this.scheduler = scheduler;
        this.addresses = addresses;
    }

    @Override
    public long addressOf(MemorySegment memory) {
        return addresses.nameOf(memory.address());
    }

    @Override
    public void registered(MemorySegment memory) {
        int ignored = ranges.computeIfAbsent(memory.address(), begin -> new TreeMap<>())
                .merge(memory.address() + memory.byteSize(), 1, Integer::sum);
    }

    @Override
    public void deregistered(MemorySegment memory) {
        note(memory);
        ranges.computeIfPresent(memory.address(), (begin, ends) -> {
            ends.computeIfPresent(memory.address() + memory.byteSize(), (end, count) -> count == 1 ? null : count - 1);
            return ends.isEmpty() ? null : ends;
        });
    }

    /** What the memory of a region is at its end belongs to the trace. */
    private void note(MemorySegment memory) {
        scheduler.note("region ends", memory.byteSize());
        if (memory.scope().isAlive() && memory.byteSize() <= LARGEST_CHECKED) {
            CRC32C checksum = new CRC32C();
            checksum.update(memory.asByteBuffer());
            scheduler.trace().mix(checksum.getValue());
        }
    }

    /** True if a byte is in a region. */
    boolean contains(long address) {
        for (Map.Entry<Long, TreeMap<Long, Integer>> entry = ranges.floorEntry(address);
                entry != null;
                entry = ranges.lowerEntry(entry.getKey())) {
            if (entry.getValue().lastKey() > address) {
                return true;
            }
        }
        return false;
    }
}
