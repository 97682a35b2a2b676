package org.softrdma.stores.nessie.worker;

import org.agrona.collections.IntArrayList;

/** Free entries that the home node has given to a worker, and entries in doubt. Owned by the worker's thread. */
final class NessieStock {
    private final int capacity;
    private final int[] references;
    private int count;
    private boolean asked;
    private boolean missed;
    private boolean dry;
    private final IntArrayList doubtful = new IntArrayList();

    NessieStock(int capacity) {
        this.capacity = capacity;
        references = new int[2 * capacity];
    }

    /** Takes an entry; 0 if there is none, and then the node is to be asked. */
    int take() {
        if (count == 0) {
            missed = true;
            return 0;
        }
        return references[--count];
    }

    /**
     * How many the node is to be asked for now; 0 if it need not. Whoever gets a number asks. A node that has had
     * none is asked again only when there is need.
     */
    int wanted() {
        if (asked || count > capacity / 2 || (dry && !missed)) {
            return 0;
        }
        asked = true;
        missed = false;
        return capacity - count;
    }

    /** The node has answered; true if it has none for those who wait: nobody has begun to wait since it was asked. */
    boolean isDry(int given) {
        asked = false;
        dry = given == 0;
        return dry && !missed;
    }

    /** The node has given one, or an operation needs it no more and has not let any word name it. */
    void add(int reference) {
        if (count < references.length) {
            references[count++] = reference;
        }
    }

    /** Keeps an entry of which it is to be found out whether a word names it. */
    void addDoubtful(int reference) {
        doubtful.addInt(reference);
    }

    /** Takes an entry in doubt; 0 if there is none. */
    int takeDoubtful() {
        return doubtful.isEmpty() ? 0 : doubtful.popInt();
    }

    /** The connection is gone, and the node has taken back what was not used. */
    void clear() {
        count = 0;
        asked = false;
        missed = false;
        dry = false;
        doubtful.clear();
    }
}
