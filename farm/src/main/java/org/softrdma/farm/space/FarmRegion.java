package org.softrdma.farm.space;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.softrdma.farm.memory.FarmSlabs;
import org.softrdma.farm.memory.ObjectLines;
import org.softrdma.farm.memory.ObjectWriter;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.device.VerbsDevice;

/** Memory of a region on one machine that has it, registered for REMOTE_READ only. The node's thread. */
public final class FarmRegion implements AutoCloseable {
    private final RegisteredMemory memory;
    private final FarmSlabs slabs;
    private final ObjectWriter writer;
    private boolean allocates;

    /**
     * An empty region.
     *
     * @param device of the machine
     * @param domain of its queue pairs
     * @param shape lengths, and whether objects end in a checksum
     * @param steps writes
     * @param allocates whether this machine knows what is free in it, as the primary from the beginning
     */
    FarmRegion(VerbsDevice device, ProtectionDomain domain, SpaceShape shape, MemorySteps steps, boolean allocates) {
        this.allocates = allocates;
        memory = new RegisteredMemory(device, domain, shape.regionLength(), Set.of(AccessFlag.REMOTE_READ));
        slabs = new FarmSlabs(shape.regionLength(), shape.blockLength());
        long taken = slabs.reserve(shape.blockLength()); // for the table of blocks
        assert taken == shape.blockLength();
        writer = new ObjectWriter(memory.segment(), shape.checksums(), steps);
    }

    /** Its memory. */
    public MemorySegment segment() {
        return memory.segment();
    }

    /** Changes its objects. */
    public ObjectWriter writer() {
        return writer;
    }

    /** What others READ. */
    public RemoteRegion remote() {
        return memory.region().remote();
    }

    /**
     * Reserves room for an object.
     *
     * @param length of header and payload
     * @param neighbour offset of an object that it is to be near; 0 if of none
     * @return its offset, or {@link FarmSlabs#FULL}
     */
    long allocate(int length, long neighbour) {
        return allocates ? slabs.allocate(ObjectLines.slotLength(length), neighbour) : FarmSlabs.FULL;
    }

    /** Gives the room of an object back. */
    public void free(long offset) {
        if (allocates) {
            slabs.free(offset);
        }
    }

    /** Another machine is its primary: from now on this one does not know what is free in it. */
    void allocatesNoMore() {
        allocates = false;
    }

    @Override
    public void close() {
        memory.close();
    }
}
