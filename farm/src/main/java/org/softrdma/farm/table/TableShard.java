package org.softrdma.farm.table;

import java.lang.foreign.MemorySegment;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.stores.Outcome;

/**
 * The part of a table that is on one machine, with everything that its pairs need: an array of buckets, whose places lie
 * one behind the other, and objects near it.
 *
 * <p>A new pair goes into its bucket or the next. If both are full, it looks for a free slot in the buckets behind, and
 * moves that towards its own: each step moves a pair from a bucket, whose own it is, to the next one. Where that fails
 * the pair goes into the chain. The thread that owns the objects.
 */
public final class TableShard {
    /** How many buckets an insert looks at for a free slot, unless there is a reason for less. */
    public static final int PROBE_LIMIT = 64;

    private static final int NOT_FOUND = -1;
    private static final long NONE = -2;

    private final TableObjects objects;
    private final TableShape shape;
    private final long firstBucket;
    private final int stride;
    private final int probes;
    private final FarmBucketDescriptor bucketLayout;
    private final FarmBucketDescriptor blockLayout;
    private final TableChain chain;
    private final TableKey otherKey;
    private final ObjectImage look = new ObjectImage();
    private final ObjectImage pair = new ObjectImage();
    private long pairs;
    private long dataBytes;

    // ---- what find() has found
    private long foundObject;
    private FarmBucketDescriptor foundLayout;
    private int foundSlot;

    /** Bytes of the value that was dropped last, and of its object if it has one. */
    private int droppedBytes;

    private int droppedLength;

    /**
     * A table that is there.
     *
     * @param objects of it
     * @param shape of the table
     * @param firstBucket address of its first bucket
     * @param stride bytes from the place of one bucket to that of the next
     * @param probes how many buckets an insert looks at for a free slot
     * @param mended whether a change of a chain is as published, or mended ({@link TableChain})
     */
    public TableShard(
            TableObjects objects, TableShape shape, long firstBucket, int stride, int probes, boolean mended) {
        this.objects = objects;
        this.shape = shape;
        this.firstBucket = firstBucket;
        this.stride = stride;
        this.probes = probes;
        bucketLayout = shape.bucket();
        blockLayout = shape.block();
        foundLayout = bucketLayout;
        chain = new TableChain(shape, objects, mended);
        otherKey = new TableKey(shape);
    }

    /**
     * An empty table in a region of its own.
     *
     * @param objects of the region
     * @param shape of the table
     * @param mended whether a change of a chain is as published, or mended
     */
    public static TableShard inRegion(RegionObjects objects, TableShape shape, boolean mended) {
        TableShard shard = new TableShard(objects, shape, objects.start(), shape.stride(), PROBE_LIMIT, mended);
        for (int bucket = 0; bucket <= shape.homes(); bucket++) {
            ObjectImage ignored = objects.change(shard.place(bucket), shard.bucketLayout.length());
            objects.commit(); // its checksum is right from now on
        }
        return shard;
    }

    private long place(int bucket) {
        return firstBucket + (long) bucket * stride;
    }

    // ---- operations

    /**
     * Stores a pair.
     *
     * @param value memory that has its value
     * @param offset where
     * @param length bytes of the value
     * @return STORED or FULL
     */
    public Outcome put(TableKey key, MemorySegment value, long offset, int length) {
        int home = shape.home(key.hash());
        boolean found = find(home, key);
        int pairLength = FarmPairDescriptor.length(key.length(), length);
        long object = shape.inline() ? NONE : objects.allocate(pairLength);
        if (object == TableObjects.FULL) {
            return Outcome.FULL;
        }
        if (!found && !makeRoom(home)) {
            free(object, pairLength);
            return Outcome.FULL;
        }
        ObjectImage image = objects.change(foundObject, foundLayout.length());
        int slot = foundLayout.slotOffset(foundSlot);
        long old = found ? drop(image, slot) : NONE;
        if (shape.inline()) {
            key.putInto(image, slot);
            MemorySegment.copy(value, offset, image.segment(), slot + shape.keyLength(), length);
        } else {
            ObjectImage made = objects.change(object, pairLength);
            fillPair(made, key, value, offset, length);
            image.putLong(slot, key.hash());
            FatPointerDescriptor.set(image, slot + Long.BYTES, object, made);
        }
        foundLayout.use(image, foundSlot, true);
        objects.commit();
        free(old, droppedLength);
        pairs += found ? 0 : 1;
        dataBytes += length + (found ? -droppedBytes : key.length());
        return Outcome.STORED;
    }

    private static void fillPair(ObjectImage image, TableKey key, MemorySegment value, long offset, int length) {
        image.putInt(FarmPairDescriptor.KEY_LENGTH_OFFSET, key.length());
        image.putInt(FarmPairDescriptor.VALUE_LENGTH_OFFSET, length);
        key.putInto(image, FarmPairDescriptor.KEY_OFFSET);
        MemorySegment.copy(value, offset, image.segment(), FarmPairDescriptor.KEY_OFFSET + key.length(), length);
    }

    /**
     * The value of a slot goes. If it is in an object of its own, that has another incarnation from now on, and is free
     * once that is committed.
     *
     * @return the object, {@link #droppedLength} bytes of header and payload, or NONE
     */
    private long drop(ObjectImage slots, int slot) {
        if (shape.inline()) {
            droppedBytes = shape.valueLength();
            return NONE;
        }
        int pointer = slot + Long.BYTES;
        long object = FatPointerDescriptor.address(slots, pointer);
        droppedLength = FatPointerDescriptor.length(slots, pointer);
        ObjectImage image = objects.change(object, droppedLength);
        droppedBytes = FarmPairDescriptor.valueLength(image);
        image.nextIncarnation();
        return object;
    }

    private void free(long object, int length) {
        if (object != NONE) {
            objects.free(object, length);
        }
    }

    /** Removes a pair; REMOVED or MISSING. */
    public Outcome remove(TableKey key) {
        int home = shape.home(key.hash());
        if (!find(home, key)) {
            return Outcome.MISSING;
        }
        ObjectImage image = objects.change(foundObject, foundLayout.length());
        long old = drop(image, foundLayout.slotOffset(foundSlot));
        foundLayout.use(image, foundSlot, false);
        if (chain.blocks() > 0) {
            chain.fill(foundObject, foundLayout, foundSlot);
        }
        joinIfBothChange(home);
        objects.commit();
        chain.free();
        free(old, droppedLength);
        pairs--;
        dataBytes -= key.length() + droppedBytes;
        return Outcome.REMOVED;
    }

    /** True if there is a pair of this key. */
    public boolean contains(TableKey key) {
        return find(shape.home(key.hash()), key);
    }

    private void joinIfBothChange(int home) {
        if (objects.changes(place(home)) && objects.changes(place(home + 1))) {
            bucketLayout.join(
                    objects.change(place(home), bucketLayout.length()),
                    objects.change(place(home + 1), bucketLayout.length()));
        }
    }

    // ---- finding

    /** Finds the slot of a key, and the chain of its bucket. */
    private boolean find(int home, TableKey key) {
        chain.of(place(home));
        if (findIn(place(home), bucketLayout, key) || findIn(place(home + 1), bucketLayout, key)) {
            return true;
        }
        for (int i = 0; i < chain.blocks(); i++) {
            if (findIn(chain.block(i), blockLayout, key)) {
                return true;
            }
        }
        return false;
    }

    private boolean findIn(long object, FarmBucketDescriptor layout, TableKey key) {
        objects.load(object, layout.length(), look);
        for (int slot = key.slotIn(look, layout, 0); slot >= 0; slot = key.slotIn(look, layout, slot + 1)) {
            if (shape.inline() || isKeyOfPair(layout.slotOffset(slot), key)) {
                foundObject = object;
                foundLayout = layout;
                foundSlot = slot;
                return true;
            }
        }
        return false;
    }

    private boolean isKeyOfPair(int slot, TableKey key) {
        int pointer = slot + Long.BYTES;
        long object = FatPointerDescriptor.address(look, pointer);
        objects.load(object, FatPointerDescriptor.length(look, pointer), pair);
        return FarmPairDescriptor.keyLength(pair) == key.length() && key.isAt(pair, FarmPairDescriptor.KEY_OFFSET);
    }

    // ---- room for a new pair

    /** Makes a free slot for a key of this bucket the found one. Displacements are committed; a new block is not. */
    private boolean makeRoom(int home) {
        int free = firstFree(home);
        while (free > home + 1 && displace(free)) {
            free--;
        }
        if (free >= 0 && free <= home + 1) {
            foundObject = place(free);
            foundLayout = bucketLayout;
        } else {
            foundObject = chain.room();
            foundLayout = blockLayout;
        }
        if (foundObject == TableObjects.FULL) {
            return false;
        }
        foundSlot = foundLayout.freeSlot(objects.change(foundObject, foundLayout.length()));
        return true;
    }

    /** The first bucket with a free slot, or NOT_FOUND. */
    private int firstFree(int home) {
        int end = Math.min(shape.homes(), home + probes);
        for (int bucket = home; bucket <= end; bucket++) {
            long state = objects.word(place(bucket), bucketLayout.length(), bucketLayout.stateOffset());
            if (bucketLayout.freeSlot(state) >= 0) {
                return bucket;
            }
        }
        return NOT_FOUND;
    }

    /** Moves a pair from the bucket before into a bucket with a free slot. False if none of them may move. */
    private boolean displace(int free) {
        int source = free - 1;
        objects.load(place(source), bucketLayout.length(), look);
        for (int slot = 0; slot < bucketLayout.slots(); slot++) {
            if (bucketLayout.isUsed(look, slot) && homeOf(slot) == source) {
                ObjectImage from = objects.change(place(source), bucketLayout.length());
                ObjectImage to = objects.change(place(free), bucketLayout.length());
                int target = bucketLayout.freeSlot(to);
                to.put(bucketLayout.slotOffset(target), from, bucketLayout.slotOffset(slot), shape.slotLength());
                bucketLayout.use(to, target, true);
                bucketLayout.use(from, slot, false);
                bucketLayout.join(from, to);
                objects.commit();
                return true;
            }
        }
        return false;
    }

    private int homeOf(int slot) {
        int at = bucketLayout.slotOffset(slot);
        if (!shape.inline()) {
            return shape.home(look.getLong(at));
        }
        otherKey.set(look.segment(), at, shape.keyLength());
        return shape.home(otherKey.hash());
    }

    // ---- use

    /** Pairs that are there. */
    public long pairs() {
        return pairs;
    }

    /** Bytes of their keys and values. */
    public long dataBytes() {
        return dataBytes;
    }
}
