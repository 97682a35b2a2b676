package org.softrdma.kv.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.kv.store.ItemDescriptor;

/** A view of a checked item where it landed. Valid until the call that was given it returns. Reused. */
public final class RemoteItem {
    private MemorySegment memory = MemorySegment.NULL;
    private long item;

    RemoteItem() {}

    RemoteItem wrap(MemorySegment newMemory, long newItem) {
        memory = newMemory;
        item = newItem;
        return this;
    }

    /** The memory in which the value lies. */
    public MemorySegment memory() {
        return memory;
    }

    /** Where in {@link #memory()} the value starts. */
    public long valueOffset() {
        return ItemDescriptor.valueOffset(memory, item);
    }

    /** Bytes of the value. */
    public int valueLength() {
        return ItemDescriptor.valueLength(memory, item);
    }

    /** The flags it was stored with. */
    public int flags() {
        return ItemDescriptor.flags(memory, item);
    }

    /** The number of this version of the item. */
    public long cas() {
        return ItemDescriptor.cas(memory, item);
    }

    /** The item, copied out. */
    public KvItem copy() {
        byte[] value = new byte[valueLength()];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, valueOffset(), value, 0, value.length);
        return new KvItem(value, flags(), cas());
    }
}
