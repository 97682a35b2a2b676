package org.softrdma.fabric.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.PageMemory;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.provider.HostMemories;

/**
 * Memory of all nodes. What their applications allocate has the same names in every run, because peers send addresses
 * to each other, and the same alignment, because grains have it: it comes from one range, which is used once. It is
 * freed with the fabric, whatever nodes that were killed have left.
 */
public final class FabricMemory extends MemoryOperations implements AutoCloseable {
    /** Where the range is mapped unless another fabric's is there: real addresses are mostly the same, too. */
    private static final long PLACE = 0x1000_0000_0000L;
    /** Address space costs nothing. */
    private static final long LENGTH = 1L << 40;

    private static final long PAGE = 4096;

    private final GrainCopier copier;
    private final VirtualAddresses addresses;
    private final List<HostMemories.Allocation> allocations = new ArrayList<>();
    private @Nullable PageMemory range;
    private long used;

    /**
     * Nothing is allocated.
     *
     * @param copier copies from and to registered memory
     * @param addresses names of the memory
     */
    public FabricMemory(GrainCopier copier, VirtualAddresses addresses) {
        this.copier = copier;
        this.addresses = addresses;
    }

    /** The source of inline data is what the application says: a region's name will do. */
    @Override
    public void copy(long source, long target, long length) {
        copier.copy(addresses.real(source), target, length);
    }

    @Override
    public void copyToPolled(long source, long target, long length) {
        copier.copyPolled(source, target, length, target, super::copyToPolled);
    }

    @Override
    public void copyFromPolled(long source, long target, long length) {
        copier.copyPolled(source, target, length, source, super::copyFromPolled);
    }

    @Override
    public HostMemory allocateForApplication(long length, MemorySource source) {
        if (length < 1 || length > LENGTH - used - PAGE || !(source instanceof MemorySource.Anonymous)) {
            return super.allocateForApplication(length, source); // or says what is wrong
        }
        long address = range().segment().address() + used;
        used += (length + PAGE - 1) / PAGE * PAGE;
        Arena arena = Arena.ofShared();
        MemorySegment segment = inArena(address, length, arena);
        HostMemories.Allocation allocation = HostMemories.add(segment, false, arena::close);
        allocations.add(allocation);
        return allocation;
    }

    private PageMemory range() {
        PageMemory current = range;
        if (current == null) {
            current = PageMemory.allocate(LENGTH, new MemorySource.Anonymous(), PLACE);
            range = current;
            addresses.map(current.segment().address(), LENGTH);
        }
        return current;
    }

    /** A segment that can no longer be used when its arena is closed. */
    @SuppressWarnings("restricted")
    private static MemorySegment inArena(long address, long length, Arena arena) {
        return NativeMemory.segment(address, length).reinterpret(arena, null);
    }

    /** Frees everything. After the run. */
    @Override
    public void close() {
        allocations.forEach(HostMemories.Allocation::abandon);
        allocations.clear();
        PageMemory current = range;
        if (current != null) {
            range = null;
            current.close();
        }
    }
}
