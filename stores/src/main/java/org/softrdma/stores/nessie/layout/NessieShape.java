package org.softrdma.stores.nessie.layout;

/**
 * What all nodes of a store and all their workers must say the same of. Immutable.
 *
 * @param nodes how many
 * @param logIndex log2 of the words of each index table
 * @param logEntries log2 of the entries of each data table
 * @param ways slots of a key
 * @param filterBits bits of the hash in each word
 * @param safe true for SAFE, false as published
 * @param maxKeyLength bytes
 * @param maxValueLength bytes
 * @param reuseNs how long an entry rests before it is used again
 */
public record NessieShape(
        int nodes,
        int logIndex,
        int logEntries,
        int ways,
        int filterBits,
        boolean safe,
        int maxKeyLength,
        int maxValueLength,
        long reuseNs) {
    /** Most slots of a key. */
    public static final int MOST_WAYS = 4;

    /** Fewest slots of a key. */
    public static final int LEAST_WAYS = 2;

    /** Most words or entries of a table, as log2. */
    public static final int MOST_LOG = 24;

    private static final int MOST_SLOTS = 1 << 30;

    /** Nodes that the filter bits leave room for. */
    public static int mostNodes(int filterBits) {
        return 1 << (NessieWordDescriptor.PLACE_BITS - filterBits);
    }

    /** True if every number is one that a node may tell. */
    public boolean isValid() {
        return filterBits >= 0
                && filterBits <= NessieWordDescriptor.MOST_FILTER_BITS
                && nodes >= 1
                && nodes <= mostNodes(filterBits)
                && logIndex >= ways - 1
                && logIndex <= MOST_LOG
                && (long) nodes << logIndex <= MOST_SLOTS
                && logEntries >= 1
                && logEntries <= MOST_LOG
                && ways >= LEAST_WAYS
                && ways <= MOST_WAYS
                && maxKeyLength > 0
                && maxValueLength >= 0
                && reuseNs >= 0;
    }

    /** The number of an entry in its data table. */
    public int number(int reference) {
        return reference & (1 << logEntries) - 1;
    }
}
