package org.softrdma.farm.table;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.LockFreeReader;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ReadVerdict;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.Outcome;

/** A shard in memory of this process, and lookups in it by copies instead of READs, which are counted. */
final class TestTable {
    static final int KEY = 16;

    private final TableShape shape;
    private final MemorySegment memory;
    private final RegionObjects objects;
    private final TableShard shard;
    private final TableKey key;
    private final NeighbourReader neighbours;
    private final LockFreeReader reader;
    private final ObjectImage image = new ObjectImage();
    private long reads;
    private IntConsumer beforeRead = read -> {};
    private int readsOfLookup;

    /** A lookup has seen that something has changed. */
    static final class Restart extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Restart(String message) {
            super(message);
        }
    }

    TestTable(TableShape shape, long length, int block) {
        this(shape, length, block, true);
    }

    TestTable(TableShape shape, long length, int block, boolean mended) {
        this.shape = shape;
        memory = Arena.ofAuto().allocate(length, 4096);
        objects = new RegionObjects(memory, block, shape, 0, MemorySteps.OF_JVM);
        shard = TableShard.inRegion(objects, shape, mended);
        key = new TableKey(shape);
        neighbours = new NeighbourReader(shape, shape.stride());
        reader = new LockFreeReader(shape.checksums());
    }

    static TableShape inline(int neighbourhood, int value, boolean checksums, int homes) {
        return new TableShape(neighbourhood, true, KEY, value, checksums, homes, 1, 42);
    }

    static TableShape outline(int neighbourhood, boolean checksums, int homes) {
        return new TableShape(neighbourhood, false, 0, 0, checksums, homes, 1, 42);
    }

    TableShard shard() {
        return shard;
    }

    long usedBytes() {
        return objects.used();
    }

    TableShape shape() {
        return shape;
    }

    long reads() {
        return reads;
    }

    static byte[] keyOf(int number) {
        return ByteBuffer.allocate(KEY).putInt(12, number).array();
    }

    static byte[] valueOf(long number, int length) {
        byte[] value = new byte[length];
        for (int i = 0; i < length; i++) {
            value[i] = (byte) (number >>> (i % 4 * Byte.SIZE));
        }
        return value;
    }

    private TableKey key(byte[] bytes) {
        key.set(MemorySegment.ofArray(bytes), 0, bytes.length);
        return key;
    }

    Outcome put(byte[] bytes, byte[] value) {
        return shard.put(key(bytes), MemorySegment.ofArray(value), 0, value.length);
    }

    Outcome remove(byte[] bytes) {
        return shard.remove(key(bytes));
    }

    /** The value of a key as a client finds it; null if it is missed. */
    byte @Nullable [] get(byte[] bytes) {
        return get(bytes, memory);
    }

    /** A copy of all memory. */
    MemorySegment snapshot() {
        return MemorySegment.ofArray(memory.toArray(ValueLayout.JAVA_BYTE));
    }

    /**
     * As a client finds it whose READ of the two buckets was in the middle of a change.
     *
     * @param bytes the key
     * @param first memory that its bucket is taken from
     * @param second memory that the bucket behind is taken from
     */
    byte @Nullable [] get(byte[] bytes, MemorySegment first, MemorySegment second) {
        long home = (long) shape.home(key(bytes).hash()) * shape.stride();
        MemorySegment mixed = snapshot();
        MemorySegment.copy(first, home, mixed, home, shape.stride());
        MemorySegment.copy(second, home + shape.stride(), mixed, home + shape.stride(), shape.stride());
        return get(bytes, mixed);
    }

    private byte @Nullable [] get(byte[] bytes, MemorySegment seen) {
        TableKey sought = new TableKey(shape); // the table may change in the middle
        sought.set(MemorySegment.ofArray(bytes), 0, bytes.length);
        long home = (long) shape.home(sought.hash()) * shape.stride();
        readsOfLookup = 0;
        countRead();
        NeighbourVerdict verdict = neighbours.read(seen, home, home);
        if (verdict != NeighbourVerdict.CONSISTENT) {
            throw new Restart(verdict.name());
        }
        byte[] found = search(neighbours.first(), shape.bucket(), sought);
        found = found == null ? search(neighbours.second(), shape.bucket(), sought) : found;
        ObjectImage at = neighbours.first();
        int pointer = shape.bucket().nextOffset();
        while (found == null && FatPointerDescriptor.address(at, pointer) != FarmAddress.NONE) {
            ObjectImage block = follow(at, pointer);
            found = search(block, shape.block(), sought);
            at = block;
            pointer = shape.block().nextOffset();
        }
        return found;
    }

    private void countRead() {
        reads++;
        beforeRead.accept(readsOfLookup++);
    }

    /** What happens before each READ of a lookup, by its number. */
    void beforeRead(IntConsumer action) {
        beforeRead = action;
    }

    private ObjectImage follow(ObjectImage at, int pointer) {
        countRead();
        long start = FarmAddress.offset(FatPointerDescriptor.address(at, pointer));
        int incarnation = FatPointerDescriptor.incarnation(at, pointer);
        ObjectImage target = new ObjectImage();
        ReadVerdict verdict = reader.read(memory, start, start, FatPointerDescriptor.length(at, pointer), target);
        if (verdict != ReadVerdict.CONSISTENT || (int) target.incarnation() != incarnation) {
            throw new Restart(verdict + ", incarnation " + target.incarnation() + " for " + incarnation);
        }
        return target;
    }

    private byte @Nullable [] search(ObjectImage slots, FarmBucketDescriptor layout, TableKey sought) {
        for (int slot = sought.slotIn(slots, layout, 0); slot >= 0; slot = sought.slotIn(slots, layout, slot + 1)) {
            int at = layout.slotOffset(slot);
            if (shape.inline()) {
                return bytes(slots, at + shape.keyLength(), shape.valueLength());
            }
            ObjectImage pair = follow(slots, at + Long.BYTES);
            if (FarmPairDescriptor.isValid(pair)
                    && FarmPairDescriptor.keyLength(pair) == sought.length()
                    && sought.isAt(pair, FarmPairDescriptor.KEY_OFFSET)) {
                return bytes(
                        pair, FarmPairDescriptor.KEY_OFFSET + sought.length(), FarmPairDescriptor.valueLength(pair));
            }
        }
        return null;
    }

    private static byte[] bytes(ObjectImage image, int at, int length) {
        return image.segment().asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Blocks in the chain of a bucket. */
    int chain(int home) {
        long start = (long) home * shape.stride();
        ReadVerdict verdict = reader.read(memory, start, start, shape.bucket().length(), image);
        if (verdict != ReadVerdict.CONSISTENT) {
            throw new AssertionError(verdict);
        }
        int blocks = 0;
        ObjectImage at = image;
        int pointer = shape.bucket().nextOffset();
        while (FatPointerDescriptor.address(at, pointer) != FarmAddress.NONE) {
            at = follow(at, pointer);
            pointer = shape.block().nextOffset();
            blocks++;
        }
        return blocks;
    }

    /** All bytes, for golden tests. */
    byte[] memory(long offset, int length) {
        return Arrays.copyOf(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE), length);
    }
}
