package org.softrdma.kv.client;

/** A value that a get has found, as a copy. */
public final class KvItem {
    private final byte[] value;
    private final int flags;
    private final long cas;

    KvItem(byte[] value, int flags, long cas) {
        this.value = value;
        this.flags = flags;
        this.cas = cas;
    }

    /** The value; the caller's own. */
    public byte[] value() {
        return value;
    }

    /** The flags it was stored with. */
    public int flags() {
        return flags;
    }

    /** The number of this version of the item. */
    public long cas() {
        return cas;
    }
}
