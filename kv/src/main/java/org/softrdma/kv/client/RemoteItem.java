package org.softrdma.kv.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.kv.item.ItemDescriptor;

/**
 * A view of a checked item where it landed, with the lengths that were checked: its header may have changed since,
 * because the server may write there. Valid until the call to which it was passed returns. Reused.
 */
public final class RemoteItem {
    private MemorySegment memory = MemorySegment.NULL;
    private long item;
    private int keyLength;
    private int valueLength;

    RemoteItem() {}

    RemoteItem wrap(MemorySegment newMemory, long newItem, int newKeyLength, int newValueLength) {
        memory = newMemory;
        item = newItem;
        keyLength = newKeyLength;
        valueLength = newValueLength;
        return this;
    }

    /** The memory in which the value lies. */
    public MemorySegment memory() {
        return memory;
    }

    /** Where in {@link #memory()} the value starts. */
    public long valueOffset() {
        return item + ItemDescriptor.KEY_OFFSET + keyLength;
    }

    /** Bytes of the value. */
    public int valueLength() {
        return valueLength;
    }

    /** The flags it was stored with. */
    public int flags() {
        return ItemDescriptor.flags(memory, item);
    }

    /** The number of this version of the item. */
    public long cas() {
        return ItemDescriptor.cas(memory, item);
    }

    /** A copy of the item. */
    public KvItem copy() {
        byte[] value = new byte[valueLength()];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, valueOffset(), value, 0, value.length);
        return new KvItem(value, flags(), cas());
    }
}
