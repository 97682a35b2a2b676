package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.LockFreeReader;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ObjectLines;
import org.softrdma.farm.memory.ReadVerdict;
import org.softrdma.farm.table.FarmBucketDescriptor;
import org.softrdma.farm.table.NeighbourReader;
import org.softrdma.farm.table.NeighbourVerdict;
import org.softrdma.farm.table.TableShape;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;

/** What the lookups of a connection share: its shape, readers and their buffers, counters. The client's thread. */
final class FarmView {
    /** So many writes of an object, one after the other, give its lines the same versions again. */
    private static final long WRAP_WRITES = (1L << Short.SIZE) / FarmObjectDescriptor.VERSION_STEP;

    /** No write is shorter. */
    private static final long SHORTEST_WRITE_NS = 100;

    private final FarmConnection connection;
    private final TableShape shape;
    private final FarmBucketDescriptor bucket;
    private final FarmBucketDescriptor block;
    private final NeighbourReader neighbours;
    private final LockFreeReader objects;
    private final ObjectImage image = new ObjectImage();
    private final StoreCounters counters;
    private ObjectImage found = image;

    FarmView(FarmConnection connection, StoreCounters counters) {
        this.connection = connection;
        this.counters = counters;
        shape = connection.welcome().shape();
        bucket = shape.bucket();
        block = shape.block();
        neighbours = new NeighbourReader(shape, shape.stride());
        objects = new LockFreeReader(shape.checksums());
    }

    FarmConnection connection() {
        return connection;
    }

    TableShape shape() {
        return shape;
    }

    FarmBucketDescriptor bucket() {
        return bucket;
    }

    FarmBucketDescriptor block() {
        return block;
    }

    NeighbourReader neighbours() {
        return neighbours;
    }

    /** The object that {@link #read} has judged last. */
    ObjectImage image() {
        return image;
    }

    StoreCounters counters() {
        return counters;
    }

    /** Bytes to READ of an object. */
    int bytesOf(long address, int length) {
        return ObjectLines.lengthInMemory(
                FarmAddress.offset(address), FarmObjectDescriptor.lengthWithChecksum(length, shape.checksums()));
    }

    /** Judges what an operation's READ has brought, of an object at an offset of its region. */
    ReadVerdict read(int operation, long start, int length) {
        return objects.read(connection.sinkMemory(), connection.sinkOf(operation), start, length, image);
    }

    /**
     * True if a READ took so long that lines may have the versions of two writes and yet the same numbers. A checksum
     * is not misled by that.
     */
    boolean mayHaveWrapped(long durationNs) {
        return !shape.checksums() && durationNs > WRAP_WRITES * SHORTEST_WRITE_NS;
    }

    void count(ReadVerdict verdict) {
        if (verdict == ReadVerdict.TORN_UNSEEN) {
            counters.increment(StoreCounter.TORN_UNSEEN);
        }
        counters.increment(StoreCounter.LINE_RETRIES);
    }

    void count(NeighbourVerdict verdict) {
        if (verdict == NeighbourVerdict.TORN_UNSEEN) {
            counters.increment(StoreCounter.TORN_UNSEEN);
        }
        counters.increment(
                verdict == NeighbourVerdict.JOINT_DIFFERS ? StoreCounter.JOINT_RETRIES : StoreCounter.LINE_RETRIES);
    }

    void found(ObjectImage newFound) {
        found = newFound;
    }

    MemorySegment foundIn() {
        return found.segment();
    }
}
