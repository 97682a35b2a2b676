package org.softrdma.stores.herd.mica;

/**
 * An entry of the index: one word in the memory of the server's process. The worker writes it.
 *
 * <pre>
 *  63  62                                  40 39                                                     0
 * +---+--------------------------------------+--------------------------------------------------------+
 * | U |  tag: 23 bits of the key's hash      |  position of the pair in the log, in units of 8 bytes   |
 * +---+--------------------------------------+--------------------------------------------------------+
 *  U: in use
 * </pre>
 *
 * <p>Positions count all bytes that were ever appended, so the lower 40 bits come again after 8 TiB: {@link
 * MicaTable} forgets what is no longer in the log long before.
 */
final class MicaSlotDescriptor {
    static final int OFFSET_BITS = 40;
    static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
    static final long TAG_MASK = ((1L << 23) - 1) << OFFSET_BITS;
    static final long USED = 1L << 63;

    /** Nobody's. */
    static final long FREE = 0;

    /** Bits of the hash that make the tag: between those of the bucket and those of the worker. */
    private static final int TAG_SHIFT = 24;

    private MicaSlotDescriptor() {}

    /** The entry of a pair. */
    static long of(long hash, long units) {
        return USED | tag(hash) | (units & OFFSET_MASK);
    }

    /** The tag of a hash, where it is in an entry. */
    static long tag(long hash) {
        return (hash >>> TAG_SHIFT) << OFFSET_BITS & TAG_MASK;
    }

    static boolean isUsed(long entry) {
        return (entry & USED) != 0;
    }

    static boolean hasTag(long entry, long tag) {
        return (entry & TAG_MASK) == tag;
    }

    static long units(long entry) {
        return entry & OFFSET_MASK;
    }
}
