package org.softrdma.testkit.history;

import java.util.BitSet;

/**
 * How many operations that have not had their turn need and make each state: what the search must not throw away, and
 * what nobody misses. Single thread.
 */
final class RemainingOperations {
    private final NumberedOperations<?, ?, ?> operations;
    private final int[] used;
    private final BitSet usedKinds = new BitSet();
    private final int[] needs;
    private final int[] changingNeeds;
    private final int[] unknownNeeds;
    private final int[] makers;
    private int wild;
    private int curious;

    /** All operations of a key. */
    RemainingOperations(NumberedOperations<?, ?, ?> operations) {
        this.operations = operations;
        int states = operations.states();
        used = new int[operations.entries()];
        needs = new int[states];
        changingNeeds = new int[states];
        unknownNeeds = new int[states];
        makers = new int[states];
        for (int entry = 0; entry < operations.entries(); entry++) {
            count(entry, operations.count(entry));
        }
    }

    /** An operation of an entry has had its turn. */
    void take(int entry) {
        count(entry, -1);
        used[entry]++;
        usedKinds.set(entry, entry >= operations.known());
    }

    /** The operation taken last has its turn before it. */
    void putBack(int entry) {
        count(entry, 1);
        used[entry]--;
        usedKinds.set(entry, entry >= operations.known() && used[entry] > 0);
    }

    private void count(int entry, int by) {
        int needed = operations.needs(entry);
        int made = operations.makes(entry);
        if (needed != NumberedOperations.NONE && entry >= operations.known()) {
            unknownNeeds[needed] += by;
        } else if (needed != NumberedOperations.NONE) {
            needs[needed] += by;
            changingNeeds[needed] += operations.isRead(entry) ? 0 : by;
        }
        if (made != NumberedOperations.NONE) {
            makers[made] += by;
        }
        wild += operations.isWild(entry) ? by : 0;
        curious += operations.isCurious(entry) ? by : 0;
    }

    /** How many operations of an entry have had their turn. */
    int used(int entry) {
        return used[entry];
    }

    /** Unknown operations that took effect: kind and count of each, in one word each, in order. */
    long[] usedUnknown() {
        long[] words = new long[usedKinds.cardinality()];
        int kind = usedKinds.nextSetBit(0);
        for (int i = 0; i < words.length; i++) {
            words[i] = (long) kind << Integer.SIZE | used[kind];
            kind = usedKinds.nextSetBit(kind + 1);
        }
        return words;
    }

    /**
     * True if a state must not be left yet: a known operation still needs it, and none can make it again.
     *
     * @param entry who is to leave it, whose own need does not count
     */
    boolean isPinned(int state, int entry) {
        if (state >= needs.length || wild > 0 || makers[state] > 0) {
            return false;
        }
        return needs[state] > (operations.needs(entry) == state && entry < operations.known() ? 1 : 0);
    }

    /** True if nobody can ever tell this state from another one. */
    boolean isUnseen(int state) {
        return curious == 0 && (state >= needs.length || needs[state] + unknownNeeds[state] == 0);
    }

    /**
     * True if so many reads are all that will ever see a state, and one operation alone makes it; or if nobody sees it.
     *
     * @param reads how many may take their turn now
     */
    boolean isSeenBy(int state, int reads) {
        if (unknownNeeds[state] > 0) {
            return false;
        }
        boolean alone = changingNeeds[state] == 0 && makers[state] == 1 && wild == 0;
        return needs[state] == 0 || (alone && needs[state] == reads);
    }
}
