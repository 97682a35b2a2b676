package org.softrdma.stores.cuckoo;

/**
 * The shortest way to a free slot: the new key takes slot 0 of the path, whose resident moves to slot 1, and so on; the
 * last slot is free.
 *
 * <p>Breadth first, from the candidates of the new key in the order of their ranks. So the first free candidate wins,
 * and among paths of one length the one whose slots readers look at first. The paper (Mitchell et al., ATC 2013,
 * section 3.4) does not name its policy; this one gives the probes that it reports at 65 % fill, and a random walk
 * gives more. The whole path is known before anything moves, and cannot hold a cycle, since no slot is visited twice.
 *
 * <p>Move from the end of the path: then each resident is in one slot or in two, never in none. Allocates nothing after
 * construction. Owned by one thread.
 */
public final class CuckooPath {
    private final int ways;
    private final int[] slots;
    private final int[] parents;
    private final int[] path;
    private int length;

    /**
     * A search.
     *
     * @param ways candidates of a key
     * @param limit most slots that are looked at
     */
    public CuckooPath(int ways, int limit) {
        if (ways < 1 || limit < ways) {
            throw new IllegalArgumentException("ways=" + ways + ", limit=" + limit + ": expected 1 <= ways <= limit");
        }
        this.ways = ways;
        slots = new int[limit];
        parents = new int[limit];
        path = new int[limit];
    }

    /**
     * Searches.
     *
     * @param table in which a key has to find room
     * @param candidates of the key, in the order in which readers look
     * @return false if no free slot was found within the limit
     */
    public boolean find(CuckooSlots table, int[] candidates) {
        int end = 0;
        for (int rank = 0; rank < ways; rank++) {
            end = visit(candidates[rank], -1, end);
        }
        for (int at = 0; at < end; at++) {
            if (table.isFree(slots[at])) {
                trace(at);
                return true;
            }
            for (int rank = 0; rank < ways && end < slots.length; rank++) {
                end = visit(table.candidate(slots[at], rank), at, end);
            }
        }
        length = 0;
        return false;
    }

    private int visit(int slot, int parent, int end) {
        for (int i = 0; i < end; i++) {
            if (slots[i] == slot) {
                return end;
            }
        }
        slots[end] = slot;
        parents[end] = parent;
        return end + 1;
    }

    private void trace(int last) {
        length = 0;
        for (int at = last; at >= 0; at = parents[at]) {
            length++;
        }
        int to = length;
        for (int at = last; at >= 0; at = parents[at]) {
            path[--to] = slots[at];
        }
    }

    /** Slots of the path that was found, with the free one: 1 if nobody has to move. */
    public int length() {
        return length;
    }

    /**
     * A slot of the path.
     *
     * @param step 0 is where the new key goes, {@link #length()} - 1 is free
     */
    public int slot(int step) {
        if (step < 0 || step >= length) {
            throw new IllegalArgumentException("step=" + step + ": expected 0 to " + (length - 1));
        }
        return path[step];
    }
}
