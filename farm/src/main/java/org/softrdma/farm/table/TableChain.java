package org.softrdma.farm.table;

import org.agrona.collections.LongArrayList;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectImage;

/**
 * The chain of overflow blocks of one bucket, while the bucket's owner changes it. A lookup walks it by one READ after
 * the other, so whatever moves a pair must make those lookups begin again that have seen one end of the move and not the
 * other.
 *
 * <p>The paper takes the last pair of the chain into a hole, and then either frees the last block or increments its
 * incarnation. That is not enough for chains of two blocks and more: a lookup that has READ the two buckets before the
 * move, and the first block after it, follows the new pointer, or finds none, and misses a key that was there all the
 * time. So the mended form gives every block of the chain a new incarnation, up to the pointer in the bucket. The thread
 * that owns the objects.
 */
final class TableChain {
    private final FarmBucketDescriptor bucketLayout;
    private final FarmBucketDescriptor blockLayout;
    private final TableObjects objects;
    private final boolean mended;
    private final LongArrayList blocks = new LongArrayList();
    private final LongArrayList emptied = new LongArrayList();
    private final ObjectImage look = new ObjectImage();
    private long bucket;

    TableChain(TableShape shape, TableObjects objects, boolean mended) {
        this.objects = objects;
        this.mended = mended;
        bucketLayout = shape.bucket();
        blockLayout = shape.block();
    }

    /** Becomes the chain of a bucket. */
    void of(long newBucket) {
        bucket = newBucket;
        blocks.clear();
        objects.load(bucket, bucketLayout.length(), look);
        int next = bucketLayout.nextOffset();
        while (FatPointerDescriptor.address(look, next) != FarmAddress.NONE) {
            long block = FatPointerDescriptor.address(look, next);
            blocks.addLong(block);
            objects.load(block, blockLayout.length(), look);
            next = blockLayout.nextOffset();
        }
    }

    /** How many blocks it has. */
    int blocks() {
        return blocks.size();
    }

    /** A block. */
    long block(int index) {
        return blocks.getLong(index);
    }

    private ObjectImage changed(int index) {
        return index < 0
                ? objects.change(bucket, bucketLayout.length())
                : objects.change(block(index), blockLayout.length());
    }

    private int next(int index) {
        return index < 0 ? bucketLayout.nextOffset() : blockLayout.nextOffset();
    }

    /** The pointer to a block names it as it will be. */
    private void point(int index) {
        FatPointerDescriptor.set(changed(index - 1), next(index - 1), block(index), changed(index));
    }

    /**
     * Finds room for a pair, in a new block if need be.
     *
     * @return the block, or {@link TableObjects#FULL}
     */
    long room() {
        if (!blocks.isEmpty()) {
            long last = blocks.getLong(blocks.size() - 1);
            objects.load(last, blockLayout.length(), look);
            if (blockLayout.freeSlot(look) >= 0) {
                return last;
            }
        }
        long block = objects.allocate(blockLayout.length());
        if (block != TableObjects.FULL) {
            ObjectImage image = objects.change(block, blockLayout.length());
            image.clear(FarmBucketDescriptor.SLOTS_OFFSET, blockLayout.length() - FarmBucketDescriptor.SLOTS_OFFSET);
            blocks.addLong(block);
            point(blocks.size() - 1);
        }
        return block;
    }

    /**
     * Fills a hole with the last pair of the chain; the hole may be that pair's own place. Frees the last block if that
     * was its only pair.
     *
     * @param hole object with the hole
     * @param layout of it
     * @param slot the hole, marked unused
     */
    void fill(long hole, FarmBucketDescriptor layout, int slot) {
        int last = blocks.size() - 1;
        ObjectImage lastImage = changed(last);
        boolean moves = hole != block(last);
        int from = blockLayout.lastSlot(lastImage);
        if (moves || from > slot) {
            ObjectImage holeImage = objects.change(hole, layout.length());
            holeImage.put(layout.slotOffset(slot), lastImage, blockLayout.slotOffset(from), blockLayout.slotLength());
            layout.use(holeImage, slot, true);
            blockLayout.use(lastImage, from, false);
        }
        boolean empty = blockLayout.lastSlot(lastImage) < 0;
        if (empty || moves) {
            lastImage.nextIncarnation();
        }
        if (empty) {
            FatPointerDescriptor.clear(changed(last - 1), next(last - 1));
            emptied.addLong(block(last));
        } else if (moves) {
            point(last);
        }
        for (int index = last - 1; mended && moves && index >= 0; index--) {
            changed(index).nextIncarnation();
            point(index);
        }
    }

    /** Gives back the blocks that are empty, once the change is committed. */
    void free() {
        for (int i = 0; i < emptied.size(); i++) {
            objects.free(emptied.getLong(i), blockLayout.length());
        }
        emptied.clear();
    }
}
