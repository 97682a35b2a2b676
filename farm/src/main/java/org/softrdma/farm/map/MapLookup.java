package org.softrdma.farm.map;

import java.lang.foreign.MemorySegment;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ReadVerdict;
import org.softrdma.farm.node.FarmException;
import org.softrdma.farm.node.ReadJudge;
import org.softrdma.farm.table.FarmBucketDescriptor;
import org.softrdma.farm.table.NeighbourReader;
import org.softrdma.farm.table.TableKey;
import org.softrdma.farm.table.TableShape;

/**
 * The lookup of one key, READ by READ: the bucket of the key with the one behind it, and then the blocks of the chain. A
 * block that is not what the pointer to it means has changed meanwhile, so the lookup begins again: a miss means that the
 * key was absent. Used again and again; allocates nothing. The thread of whoever READs.
 */
final class MapLookup implements ReadJudge {
    private static final int MOST_RESTARTS = 10_000;

    private final TableShape shape;
    private final FarmBucketDescriptor bucket;
    private final FarmBucketDescriptor block;
    private final NeighbourReader neighbours;
    private final TableKey key;
    private long home;
    private long next;
    private int nextIncarnation;
    private int restarts;
    private boolean over;
    private ObjectImage foundIn = new ObjectImage();
    private int valueOffset;

    /**
     * Lookups.
     *
     * @param shape of the map
     * @param stride bytes from the place of one bucket to that of the next
     */
    MapLookup(TableShape shape, int stride) {
        this.shape = shape;
        bucket = shape.bucket();
        block = shape.block();
        neighbours = new NeighbourReader(shape, stride);
        key = new TableKey(shape);
    }

    /** The key, which is set before a lookup begins. */
    TableKey key() {
        return key;
    }

    /**
     * Begins.
     *
     * @param address of the key's bucket
     */
    void begin(long address) {
        home = address;
        restarts = 0;
        beginAgain();
    }

    private void beginAgain() {
        over = false;
        next = FarmAddress.NONE;
        valueOffset = 0;
    }

    // ---- the next READ

    /** True if it is the bucket with the one behind it; false if it is a block of the chain. */
    boolean isAtBuckets() {
        return next == FarmAddress.NONE;
    }

    /** Where it is. */
    long address() {
        return isAtBuckets() ? home : next;
    }

    /** Bytes of the two buckets in memory, or of the block. */
    int length() {
        return isAtBuckets() ? neighbours.length() : block.length();
    }

    /** Low half of the incarnation that the block must have. */
    int incarnation() {
        return nextIncarnation;
    }

    /** Of the two buckets. */
    @Override
    public ReadVerdict judge(MemorySegment memory, long at, long start) {
        return neighbours.read(memory, at, start).ofRead();
    }

    // ---- what has come

    /** The two buckets have come, and were judged. */
    void onBuckets() {
        if (!isIn(neighbours.first(), bucket) && !isIn(neighbours.second(), bucket)) {
            follow(neighbours.first(), bucket);
        }
    }

    /** The block has come, and is what the pointer means. */
    void onBlock(ObjectImage image) {
        if (!isIn(image, block)) {
            follow(image, block);
        }
    }

    /**
     * The block is no more.
     *
     * @throws FarmException if that was so too often
     */
    void onGone() {
        if (++restarts >= MOST_RESTARTS) {
            throw new FarmException("the chain of a key was being changed " + MOST_RESTARTS + " times");
        }
        beginAgain();
    }

    private boolean isIn(ObjectImage image, FarmBucketDescriptor layout) {
        int slot = key.slotIn(image, layout, 0);
        if (slot >= 0) {
            foundIn = image;
            valueOffset = layout.slotOffset(slot) + shape.keyLength();
            over = true;
        }
        return slot >= 0;
    }

    private void follow(ObjectImage from, FarmBucketDescriptor layout) {
        next = FatPointerDescriptor.address(from, layout.nextOffset());
        nextIncarnation = FatPointerDescriptor.incarnation(from, layout.nextOffset());
        over = next == FarmAddress.NONE;
    }

    // ---- the result

    /** True once it needs no other READ. */
    boolean isOver() {
        return over;
    }

    /** True if the key is there. */
    boolean isFound() {
        return valueOffset != 0;
    }

    /** What has the value; until the next READ. */
    ObjectImage foundIn() {
        return foundIn;
    }

    /** Where the value is in it. */
    int valueOffset() {
        return valueOffset;
    }
}
