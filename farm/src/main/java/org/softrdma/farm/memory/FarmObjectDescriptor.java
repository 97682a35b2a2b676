package org.softrdma.farm.memory;

/**
 * An object in a region: little endian, starts at a multiple of 16, so that its header never straddles a line. The
 * owner of the region writes all of it; peers READ it.
 *
 * <pre>
 *  63                                                                          2 1 0
 * +-----------------------------------------------------------------------------+---+
 * |  version, + 4 at every write                                                | L |   0  L: 0 free, 1 readers allowed,
 * +-----------------------------------------------------------------------------+---+      2 exclusive. Written first
 * |A|  incarnation, + 1 when the object is freed                                    |   8  and last of every write
 * +---------------------------------------------------------------------------------+
 * |  payload ...                                                                    |  16
 * +-----------------------------------------------------------------+---------------+
 * |  payload ...                                                    | line version  |  at every address that is a
 * +-----------------------------------------------------------------+---------------+  multiple of 64, but the first byte
 * |  payload ...                                                                    |
 * +---------------------------------------------------------------------------------+
 * |  safe mode: CRC-32C over version (L = 0), incarnation, payload | CRC-32 of same |  behind the payload
 * +---------------------------------------------------------------------------------+
 * </pre>
 *
 * <p>A line version is the low 16 bits of the version, so a multiple of 4, or {@link #LINE_LOCKED} while the line is
 * being written. All other bytes count through: byte n of an object is where it would be without line versions, plus 2
 * for each line version before it ({@link ObjectLines}).
 *
 * <p>The paper draws header and line versions (figure 8); the split of the header's words, the lock in the version's low
 * bits and 16 bits per line are stated there. The checksum is ours. A marks an object that a transaction has allocated;
 * the table of one server does without it.
 */
public final class FarmObjectDescriptor {
    /** Where the version and the lock are. */
    public static final int VERSION_OFFSET = 0;

    /** Where the incarnation is. */
    public static final int INCARNATION_OFFSET = VERSION_OFFSET + Long.BYTES;

    /** Where the payload begins. */
    public static final int PAYLOAD_OFFSET = INCARNATION_OFFSET + Long.BYTES;

    /** Bytes of the checksum behind the payload. */
    public static final int CHECKSUM_LENGTH = Long.BYTES;

    /** Set in the incarnation of an object that is allocated. Pointers have its low half only, so readers need not know. */
    public static final long ALLOCATED = 1L << 63;

    /** Objects begin at multiples of this. */
    public static final int ALIGNMENT = 16;

    /** What one write adds to the version. */
    public static final long VERSION_STEP = 4;

    /** The bits of the version that are the lock. */
    public static final long LOCK_MASK = VERSION_STEP - 1;

    /** A transaction holds the object, and readers may take what is there. */
    public static final long READERS_ALLOWED = 1;

    /** The object is being written. */
    public static final long EXCLUSIVE = 2;

    /** The version of a line that is being written: no multiple of 4. */
    public static final short LINE_LOCKED = 1;

    private FarmObjectDescriptor() {}

    /** The version that every line has while the header has this one. */
    public static short lineVersion(long version) {
        return (short) (version & ~LOCK_MASK);
    }

    /**
     * Bytes of an object without its line versions.
     *
     * @param length of header and payload
     * @param checksums whether objects end in a checksum
     */
    public static int lengthWithChecksum(int length, boolean checksums) {
        return checksums ? length + CHECKSUM_LENGTH : length;
    }
}
