package org.softrdma.farm.table;

import java.lang.foreign.MemorySegment;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmSlabs;
import org.softrdma.farm.memory.ObjectChanges;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ObjectLines;
import org.softrdma.stores.MemorySteps;

/**
 * The objects of one region: an array of buckets, and behind it blocks of objects. A commit takes effect at once. The
 * thread that owns the region.
 */
public final class RegionObjects implements TableObjects {
    private final MemorySegment memory;
    private final TableShape shape;
    private final int region;
    private final FarmSlabs slabs;
    private final ObjectChanges changes;

    /**
     * None but buckets.
     *
     * @param memory of the region, zeroed
     * @param blockLength bytes of a block of objects
     * @param shape of the table
     * @param region its number
     * @param steps writes
     * @throws IllegalArgumentException if the buckets do not fit
     */
    public RegionObjects(MemorySegment memory, int blockLength, TableShape shape, int region, MemorySteps steps) {
        this.memory = memory;
        this.shape = shape;
        this.region = region;
        slabs = new FarmSlabs(memory.byteSize(), blockLength);
        slabs.reserve(shape.bucketsLength());
        changes = new ObjectChanges(memory, shape.checksums(), steps);
    }

    /** Address of the first bucket. */
    long start() {
        return FarmAddress.of(region, 0);
    }

    @Override
    public void load(long address, int length, ObjectImage image) {
        changes.load(FarmAddress.offset(address), length, image);
    }

    @Override
    public long word(long address, int length, int offset) {
        return ObjectLines.getLong(memory, FarmAddress.offset(address), offset);
    }

    @Override
    public ObjectImage change(long address, int length) {
        return changes.change(FarmAddress.offset(address), length);
    }

    @Override
    public boolean changes(long address) {
        return changes.includes(FarmAddress.offset(address));
    }

    @Override
    public long allocate(int length) {
        long object = slabs.allocate(shape.lengthInMemory(length));
        return object == FarmSlabs.FULL ? FULL : FarmAddress.of(region, object);
    }

    @Override
    public void free(long address, int length) {
        slabs.free(FarmAddress.offset(address));
    }

    @Override
    public void commit() {
        changes.commit();
    }

    /** Bytes of all buckets, blocks and pairs. */
    public long used() {
        return slabs.used();
    }
}
