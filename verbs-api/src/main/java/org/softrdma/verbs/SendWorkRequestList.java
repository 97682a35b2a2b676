package org.softrdma.verbs;

/**
 * Send work requests that are posted with one doorbell (C: a chain of {@code ibv_send_wr}). Reusable, not thread-safe.
 *
 * <p>Posting stops at the first entry that cannot be taken, and {@link #accepted()} is then the index of that entry
 * ({@code bad_wr}). The entries before it were accepted; that entry and those after it were not.
 */
public final class SendWorkRequestList {
    private final SendWorkRequest[] entries;
    private int size;
    private int accepted;

    /**
     * An empty list.
     *
     * @param capacity most entries
     */
    public SendWorkRequestList(int capacity) {
        entries = new SendWorkRequest[capacity];
        for (int i = 0; i < capacity; i++) {
            entries[i] = new SendWorkRequest();
        }
    }

    /** Adds an entry and returns it for you to fill in. */
    public SendWorkRequest next() {
        if (size == entries.length) {
            throw new IllegalStateException("size=" + size + " = capacity=" + entries.length);
        }
        return entries[size++];
    }

    /**
     * An entry.
     *
     * @param index 0 to {@link #size()} - 1
     */
    public SendWorkRequest get(int index) {
        return entries[java.util.Objects.checkIndex(index, size)];
    }

    /** Number of entries. */
    public int size() {
        return size;
    }

    /** Removes all entries. */
    public void clear() {
        size = 0;
        accepted = 0;
    }

    /** How many entries the last post accepted. */
    public int accepted() {
        return accepted;
    }

    /**
     * For providers: says how many entries were accepted.
     *
     * @param count 0 to {@link #size()}
     */
    public void accepted(int count) {
        accepted = count;
    }
}
