package org.softrdma.stores.cuckoo;

/** A table of slots, as a search for a free one sees it. */
public interface CuckooSlots {
    /** True if nobody is in the slot. */
    boolean isFree(int slot);

    /**
     * A slot where the resident of another one may be.
     *
     * @param slot in which somebody is
     * @param rank 0 for the first place where a reader looks for it, and so on
     */
    int candidate(int slot, int rank);
}
