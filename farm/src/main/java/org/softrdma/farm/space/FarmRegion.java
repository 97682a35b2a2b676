package org.softrdma.farm.space;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.softrdma.farm.memory.FarmObjectDescriptor;
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
    private final SpaceShape shape;
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
        this.shape = shape;
        memory = RegisteredMemory.shareable(device, domain, shape.regionLength(), Set.of(AccessFlag.REMOTE_READ));
        slabs = new FarmSlabs(shape.regionLength(), shape.blockLength());
        long taken = slabs.reserve(shape.blockLength()); // so that no object is at 0
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
        return allocates ? slabs.allocate(shape.slotLength(length), neighbour) : FarmSlabs.FULL;
    }

    /**
     * Reserves room for objects whose places lie one behind the other.
     *
     * @param length of header and payload of each
     * @param count how many
     * @return offset of the first, or {@link FarmSlabs#FULL}
     */
    public long allocateAdjacent(int length, int count) {
        return allocates ? slabs.allocateAdjacent(shape.slotLength(length), count) : FarmSlabs.FULL;
    }

    /** A transaction has allocated an object here, on whatever machine. */
    public void allocated(long offset, int length) {
        boolean ignored = slabs.learn(offset, shape.slotLength(length));
    }

    /** Gives the room of an object back. */
    public void free(long offset) {
        if (allocates) {
            slabs.free(offset);
        }
    }

    /** An epoch was learnt: what is reserved in older ones is void, and what they have allocated will be known later. */
    void allocatesNoMore() {
        allocates = false;
    }

    /** True if this machine knows what is free in it. */
    boolean allocates() {
        return allocates;
    }

    /** All transactions of older epochs are over: what is free in it, its objects say. */
    void allocatesAgain() {
        if (!allocates) {
            allocates = true;
            slabs.rescan(object -> isAllocated(object));
        }
    }

    /** True if a transaction has allocated the object at a place, and none has freed it. */
    public boolean isAllocated(long object) {
        return (ObjectLines.getLong(segment(), object, FarmObjectDescriptor.INCARNATION_OFFSET)
                        & FarmObjectDescriptor.ALLOCATED)
                != 0;
    }

    // ---- copies

    /** The first place of an object that is not before an offset, or {@link FarmSlabs#FULL} if there is none. */
    public long placeFrom(long from) {
        return slabs.placeFrom(from);
    }

    /** Bytes of an object's place. */
    public int slotLength(long offset) {
        return slabs.slotLength(offset);
    }

    /** The version of the object at a place, without its lock; 0 if none was ever written there. */
    public long version(long offset) {
        return writer.version(offset) & ~FarmObjectDescriptor.LOCK_MASK;
    }

    /**
     * Puts an object down as another machine has it, unless this one has it as new or newer.
     *
     * @param offset of it
     * @param version of it, without a lock
     * @param bytes of its place
     * @return false if no such object can be there
     */
    public boolean put(long offset, long version, MemorySegment bytes) {
        if (!slabs.learn(offset, (int) bytes.byteSize()) || slabs.slotLength(offset) != bytes.byteSize()) {
            return false;
        }
        if (version > version(offset)) {
            writer.put(offset, bytes);
        }
        return true;
    }

    @Override
    public void close() {
        memory.close();
    }
}
