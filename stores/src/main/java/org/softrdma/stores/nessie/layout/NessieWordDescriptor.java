package org.softrdma.stores.nessie.layout;

/**
 * A word of an index table, 64 bits, 8-byte aligned, in the byte order of the machines. Workers READ it, and change
 * it by compare-and-swap.
 *
 * <pre>
 *  63                      49 48                            17 16               1 0
 * +--------------------------+-------------------------------+------------------+-+
 * |  data table   | filter   |  reference of the entry       |  version         |M|
 * +--------------------------+-------------------------------+------------------+-+
 * </pre>
 *
 * <p>Reference: 0 if the word is empty; else the number of the entry in its data table, and above it the generation of
 * the entry (paper: an offset; it has no generation, which is 0 then). Filter: the last 0 to 11 bits of the key's
 * hash; it takes bits of the data table's number (paper, section 4.1). Version: one more at every change. M: the
 * paper's watermark, which serves to poll for the end of a READ; completions tell that here. It is 0 as published; in
 * SAFE it marks a word that a worker is about to move.
 *
 * <p>An empty word has 0 in all but its version. Stateless.
 */
public final class NessieWordDescriptor {
    /** Most filter bits: 4 bits are left for the data table. */
    public static final int MOST_FILTER_BITS = 11;

    /** Bits of data table and filter. */
    public static final int PLACE_BITS = 15;

    private static final int VERSION_BITS = Short.SIZE;
    private static final int VERSION_SHIFT = 1;
    private static final long VERSION_MASK = (1L << VERSION_BITS) - 1;
    private static final int REFERENCE_SHIFT = VERSION_SHIFT + VERSION_BITS;
    private static final int PLACE_SHIFT = REFERENCE_SHIFT + Integer.SIZE;
    private static final long MARK = 1;

    private NessieWordDescriptor() {}

    /**
     * A word.
     *
     * @param place data table and filter, 15 bits
     * @param reference of the entry; 0 with place 0 for none
     * @param version its low 16 bits count
     */
    public static long of(int place, int reference, int version) {
        return (long) place << PLACE_SHIFT
                | Integer.toUnsignedLong(reference) << REFERENCE_SHIFT
                | (version & VERSION_MASK) << VERSION_SHIFT;
    }

    /**
     * Data table and filter in one.
     *
     * @param table number of the data table
     * @param hash of the key
     * @param filterBits how many
     */
    public static int place(int table, long hash, int filterBits) {
        return table << filterBits | ((int) hash & (1 << filterBits) - 1);
    }

    /** True if it names no entry. */
    public static boolean isEmpty(long word) {
        return reference(word) == 0;
    }

    /** Number and generation of the entry. */
    public static int reference(long word) {
        return (int) (word >>> REFERENCE_SHIFT);
    }

    /** Data table and filter. */
    public static int place(long word) {
        return (int) (word >>> PLACE_SHIFT);
    }

    /** The data table. */
    public static int table(long word, int filterBits) {
        return place(word) >>> filterBits;
    }

    /** False if the entry cannot be of a key with this hash. */
    public static boolean passes(long word, long hash, int filterBits) {
        return ((place(word) ^ (int) hash) & (1 << filterBits) - 1) == 0;
    }

    /** All that tells one entry from another: data table, filter and reference. */
    public static long name(long word) {
        return word >>> REFERENCE_SHIFT;
    }

    /** Its version. */
    public static int version(long word) {
        return (int) (word >>> VERSION_SHIFT & VERSION_MASK);
    }

    /** True if somebody is about to move it. */
    public static boolean isMarked(long word) {
        return (word & MARK) != 0;
    }

    /** What follows a word, with another entry. */
    public static long next(long word, int place, int reference) {
        return of(place, reference, version(word) + 1);
    }

    /** What follows a word, naming none. */
    public static long emptied(long word) {
        return next(word, 0, 0);
    }

    /** What follows a word, with its entry and a mark. */
    public static long marked(long word) {
        return unmarked(word) | MARK;
    }

    /** What follows a word, with its entry and without a mark. */
    public static long unmarked(long word) {
        return next(word, place(word), reference(word));
    }
}
