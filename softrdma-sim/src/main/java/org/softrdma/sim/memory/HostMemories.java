package org.softrdma.sim.memory;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.MemorySource;

/** The memory that a device has allocated, by address, so that a registration finds what it must keep alive. Thread-safe. */
public final class HostMemories {
    private final ConcurrentSkipListMap<Long, SoftHostMemory> byAddress = new ConcurrentSkipListMap<>();

    /** Makes an empty one. */
    public HostMemories() {}

    /** Allocates memory of at least 1 byte. */
    public SoftHostMemory allocate(long length, MemorySource source) {
        if (length < 1) {
            throw new IllegalArgumentException("length=" + length + ": expected at least 1");
        }
        SoftHostMemory[] self = new SoftHostMemory[1];
        SoftHostMemory memory = new SoftHostMemory(
                length, source, () -> byAddress.remove(self[0].segment().address(), self[0]));
        self[0] = memory;
        byAddress.put(memory.segment().address(), memory);
        return memory;
    }

    /**
     * Counts a registration of a segment on the memory it lies in.
     *
     * @return the memory, or null if the segment is not of this device
     * @throws IllegalStateException if that memory is closed
     */
    @Nullable
    SoftHostMemory acquire(MemorySegment segment) {
        Map.Entry<Long, SoftHostMemory> entry = byAddress.floorEntry(segment.address());
        if (entry == null) {
            return null;
        }
        SoftHostMemory memory = entry.getValue();
        if (segment.address() >= memory.segment().address() + memory.segment().byteSize()) {
            return null;
        }
        if (!memory.acquire()) {
            throw new IllegalStateException("the device memory of this segment is closed");
        }
        return memory;
    }
}
