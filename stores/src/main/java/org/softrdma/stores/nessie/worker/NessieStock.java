package org.softrdma.stores.nessie.worker;

import org.agrona.collections.IntArrayList;

/** Free entries that the home node has given to a worker, and entries in doubt. Owned by the worker's thread. */
final class NessieStock {
    private final int[] references;
    private int count;
    private boolean asked;
    private final IntArrayList doubtful = new IntArrayList();

    NessieStock(int capacity) {
        references = new int[capacity];
    }

    /** Takes an entry; 0 if there is none. */
    int take() {
        return count == 0 ? 0 : references[--count];
    }

    /** How many the node is to be asked for now; 0 if it need not. Whoever gets a number asks. */
    int wanted() {
        if (asked || count > references.length / 2) {
            return 0;
        }
        asked = true;
        return references.length - count;
    }

    /** The node has answered. */
    void answered() {
        asked = false;
    }

    /** The node has given one. */
    void add(int reference) {
        references[count++] = reference;
    }

    /** Keeps an entry of which it is to be found out whether a word names it. */
    void addDoubtful(int reference) {
        boolean added = doubtful.add(reference);
    }

    /** Takes an entry in doubt; 0 if there is none. */
    int takeDoubtful() {
        return doubtful.isEmpty() ? 0 : doubtful.popInt();
    }

    /** The connection is gone, and the node has taken back what was not used. */
    void clear() {
        count = 0;
        asked = false;
        doubtful.clear();
    }
}
