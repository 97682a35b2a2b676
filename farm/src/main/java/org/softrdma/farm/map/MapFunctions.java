package org.softrdma.farm.map;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Map;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.table.TableKey;
import org.softrdma.farm.table.TableShape;
import org.softrdma.farm.table.TableShard;
import org.softrdma.farm.transaction.LocalObjects;
import org.softrdma.farm.transaction.ShippedFunction;
import org.softrdma.stores.Outcome;

/** What a map has its shards' primaries do, each call a transaction of one machine. The node's thread. */
final class MapFunctions {
    /** Reserves the places of a shard's buckets; the result is the address of the first, or 0: no room. */
    static final int RESERVE = 0x6661_7200;

    /** Makes some of these buckets: {@link #DONE}. */
    static final int CREATE = RESERVE + 1;

    /** Stores a pair: {@link #DONE} or {@link #FULL}. */
    static final int PUT = CREATE + 1;

    /** Removes a pair: {@link #DONE} or {@link #MISSING}. */
    static final int REMOVE = PUT + 1;

    static final long DONE = 0;
    static final long MISSING = 1;
    static final long FULL = 2;

    static final Map<Integer, ShippedFunction> ALL = Map.of(
            RESERVE, MapFunctions::reserve,
            CREATE, MapFunctions::create,
            PUT, MapFunctions::put,
            REMOVE, MapFunctions::remove);

    private MapFunctions() {}

    private static long reserve(LocalObjects objects, long address, ByteBuffer call) {
        TableShape shape = MapCallDescriptor.shape(call, objects.shape().checksums());
        return objects.reserveAdjacent(shape.bucket().length(), shape.homes() + 1, address);
    }

    private static long create(LocalObjects objects, long address, ByteBuffer call) {
        TableShape shape = MapCallDescriptor.shape(call, objects.shape().checksums());
        int from = MapCallDescriptor.from(call);
        int count = MapCallDescriptor.count(call);
        if (from < 0 || count < 1 || from + (long) count > shape.homes() + 1L) {
            throw new IllegalArgumentException("from=" + from + ", count=" + count + ": expected buckets of "
                    + (shape.homes() + 1L) + " that there are");
        }
        if (objects.epoch() != MapCallDescriptor.epoch(call)) {
            throw new IllegalStateException("an epoch has begun: what was reserved is void");
        }
        int length = shape.bucket().length();
        int stride = objects.shape().stride(length);
        for (int bucket = from; bucket < from + count; bucket++) {
            ObjectImage ignored = objects.create(address + (long) bucket * stride, length);
        }
        return DONE;
    }

    private static TableShard shard(LocalObjects objects, TableShape shape, long address, int probes) {
        int stride = objects.shape().stride(shape.bucket().length());
        return new TableShard(new TransactionObjects(objects, address), shape, address, stride, probes, true);
    }

    private static TableKey key(TableShape shape, ByteBuffer call) {
        MapCallDescriptor.requireLength(call, MapCallDescriptor.KEY_OFFSET + (long) shape.keyLength());
        TableKey key = new TableKey(shape);
        key.set(MemorySegment.ofBuffer(call), MapCallDescriptor.KEY_OFFSET, shape.keyLength());
        return key;
    }

    private static long put(LocalObjects objects, long address, ByteBuffer call) {
        TableShape shape = MapCallDescriptor.shape(call, objects.shape().checksums());
        TableKey key = key(shape, call);
        int value = MapCallDescriptor.KEY_OFFSET + shape.keyLength();
        MapCallDescriptor.requireLength(call, (long) value + shape.valueLength());
        Outcome outcome = shard(objects, shape, address, MapCallDescriptor.probes(call))
                .put(key, MemorySegment.ofBuffer(call), value, shape.valueLength());
        return outcome == Outcome.STORED ? DONE : FULL;
    }

    private static long remove(LocalObjects objects, long address, ByteBuffer call) {
        TableShape shape = MapCallDescriptor.shape(call, objects.shape().checksums());
        Outcome outcome = shard(objects, shape, address, 1).remove(key(shape, call));
        return outcome == Outcome.REMOVED ? DONE : MISSING;
    }
}
