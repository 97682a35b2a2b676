package org.softrdma.farm.ring;

/**
 * The position of the receiver of a ring: one little-endian word in the sender's memory, which the receiver WRITEs.
 *
 * <pre>
 *  63                            32 31                             0
 * +--------------------------------+--------------------------------+
 * |  all bits of the low half, not |  bytes processed, modulo 2^32  |   0
 * +--------------------------------+--------------------------------+
 * </pre>
 *
 * <p>The paper has only the position. The second half detects a word that has arrived only in part.
 */
public final class HeadWordDescriptor {
    /** Bytes of the word. */
    public static final int LENGTH = Long.BYTES;

    private HeadWordDescriptor() {}

    /** The word of a position. */
    public static long word(long position) {
        int low = (int) position;
        return Integer.toUnsignedLong(low) | (long) ~low << Integer.SIZE;
    }

    /** True if a word is complete. */
    public static boolean isWhole(long word) {
        return (int) word == ~(int) (word >>> Integer.SIZE);
    }

    /**
     * The position that a word reports.
     *
     * @param word a complete one
     * @param known an earlier position, less than 2^32 before
     */
    public static long position(long word, long known) {
        return known + Integer.toUnsignedLong((int) word - (int) known);
    }
}
