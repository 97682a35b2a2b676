package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.Locator;

/**
 * An item that was found, as long as the lock of its key is held: inside {@link ItemVisitor#visit} and {@link
 * ItemRewriter#measure} only. A view that is used again for the next item.
 */
public final class StoredItem {
    private final SlabAllocator slabs;
    private long chunk;
    private MemorySegment memory = MemorySegment.NULL;
    private long item;
    private @Nullable SlabPage page;
    private int index;

    StoredItem(SlabAllocator slabs) {
        this.slabs = slabs;
    }

    StoredItem wrap(long newChunk) {
        chunk = newChunk;
        memory = slabs.memory(newChunk);
        item = SlabAllocator.offset(newChunk);
        SlabPage there = slabs.page(newChunk);
        page = there;
        index = slabs.indexInPage(there, newChunk);
        return this;
    }

    long chunk() {
        return chunk;
    }

    SlabPage page() {
        if (page == null) {
            throw new IllegalStateException("no item");
        }
        return page;
    }

    int index() {
        return index;
    }

    /** A copy of its key. */
    public byte[] key() {
        byte[] key = new byte[keyLength()];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, item + ItemDescriptor.KEY_OFFSET, key, 0, key.length);
        return key;
    }

    /** The arena. */
    public MemorySegment memory() {
        return memory;
    }

    /** Offset of the item in its arena, see {@link ItemDescriptor}. */
    public long offset() {
        return item;
    }

    /** Where the value starts in the arena. */
    public long valueOffset() {
        return ItemDescriptor.valueOffset(memory, item);
    }

    /** Bytes of the value. */
    public int valueLength() {
        return ItemDescriptor.valueLength(memory, item);
    }

    /**
     * Copies the value to the position of a buffer, which moves. Rejected: a copy of memory segments, because that of a
     * buffer is an object on the heap for each value.
     *
     * @param target has room for it
     */
    public void copyValue(ByteBuffer target) {
        int length = valueLength();
        target.put(target.position(), slabs.bytes(chunk), (int) valueOffset(), length);
        target.position(target.position() + length);
    }

    /** Bytes of the key. */
    public int keyLength() {
        return ItemDescriptor.keyLength(memory, item);
    }

    /** Bytes of the whole item. */
    public long itemLength() {
        return ItemDescriptor.itemLength(keyLength(), valueLength());
    }

    /** The client's flags. */
    public int flags() {
        return ItemDescriptor.flags(memory, item);
    }

    /** The cas number. */
    public long cas() {
        return ItemDescriptor.cas(memory, item);
    }

    /** Seconds since 1970 when it expires, 0 for never. */
    public long expiry() {
        return ItemDescriptor.expiry(memory, item);
    }

    /**
     * Changes the expiry in place; readers see one or the other.
     *
     * @param expiry seconds since 1970, 0 for never
     */
    public void setExpiry(int expiry) {
        slabs.writer().setExpiry(memory, item, expiry);
    }

    /** Seconds since 1970, as a 32-bit number, when it was stored, or found as {@link #isFetched} has it. */
    public int lastAccess() {
        return page().times[index];
    }

    /** Counts that it was found, for {@code stats items}: before it counts as used. */
    public void countHit() {
        SlabPage there = page();
        slabs.lru(there.sizeClass).countHit(there, index);
    }

    /** True if it was found before, since it was stored. */
    public boolean isFetched() {
        return page().isFetched(index);
    }

    /** True if it was marked stale. */
    public boolean isStale() {
        return page().isStale(index);
    }

    /** True if somebody was told to recache it. */
    public boolean isTokenSent() {
        return page().isTokenSent(index);
    }

    /** Somebody is told to recache it. */
    public void setTokenSent() {
        page().setTokenSent(index);
    }

    /** True if its key came in base 64. */
    public boolean isKeyBinary() {
        return page().isKeyBinary(index);
    }

    /** The slab class, 0 for the smallest chunks. */
    public int sizeClass() {
        return page().sizeClass;
    }

    /** What clients need to READ it. */
    public Locator locator() {
        SlabPage there = page();
        return new Locator(
                there.names.rkey(index),
                there.names.offset(index),
                there.names.readLength((int) itemLength()),
                there.sizeClass,
                ItemDescriptor.generation(memory, item));
    }
}
