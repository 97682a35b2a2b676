package org.softrdma.sim.memory;

import org.jspecify.annotations.Nullable;

/**
 * A memory window: a row of the stag table, which names part of a region while the window is bound. Thread-safe, under
 * the table's lock.
 */
public final class Window {
    private static final int NONE = 0;

    private final StagTable table;
    private final int domain;
    private final boolean ofDomain;
    private int row;
    /** Of the bind that was posted last. */
    private volatile int rkey;
    /** Of the next bind, if its owner has chosen it, and what else it has chosen. */
    private int chosenKey = NONE;

    private boolean zeroBased;

    // Under the table's lock.
    /** Where it is bound, and by which key; null if it is not. */
    private @Nullable StreamWindows holder;

    private int key = NONE;
    private int region;
    private boolean closed;

    Window(StagTable table, int domain, boolean ofDomain) {
        this.table = table;
        this.domain = domain;
        this.ofDomain = ofDomain;
    }

    /** True if all queue pairs of its domain share it, and it may be bound while it is bound. */
    boolean isOfDomain() {
        return ofDomain;
    }

    /** Before anybody else has the window. */
    void row(int newRow) {
        row = newRow;
    }

    int row() {
        return row;
    }

    int domain() {
        return domain;
    }

    boolean isOf(StagTable other) {
        return table == other;
    }

    /** The key of the bind that was posted last, or 0. */
    public int rkey() {
        return rkey;
    }

    /**
     * A bind is being posted: the key that it will have.
     *
     * @throws IllegalStateException if the window is closed
     */
    public int nextKey() {
        table.lock().lock();
        try {
            if (closed) {
                throw new IllegalStateException("the memory window is closed");
            }
            int next = chosenKey == NONE ? table.nextWindowKey(row) : chosenKey;
            chosenKey = NONE;
            rkey = next;
            return next;
        } finally {
            table.lock().unlock();
        }
    }

    /**
     * The next bind that is posted will have this key, which is not 0.
     *
     * @param newZeroBased peers will name its first byte 0
     */
    public void choose(int newKey, boolean newZeroBased) {
        table.lock().lock();
        try {
            chosenKey = newKey;
            zeroBased = newZeroBased;
        } finally {
            table.lock().unlock();
        }
    }

    /** What a bind that is posted now has beside its rights: {@link AccessRights#ZERO_BASED_WINDOW}, or nothing. */
    public int base() {
        return zeroBased ? AccessRights.ZERO_BASED_WINDOW : AccessRights.NONE;
    }

    /** True while it can be bound. Under the lock. */
    boolean isBindable() {
        return !closed && (holder == null || ofDomain);
    }

    /** It is bound. Under the lock. */
    void bound(StreamWindows newHolder, int newKey, int newRegion) {
        holder = newHolder;
        key = newKey;
        region = newRegion;
    }

    /** Takes its key back, if it is bound. Under the lock. */
    void unbind() {
        StreamWindows bound = holder;
        if (bound != null) {
            table.unbindWindow(row, key, region);
            bound.forget(key);
            holder = null;
            key = NONE;
        }
    }

    /**
     * Takes its key back for ever: engines refuse it from the next batch on. The row is not reused before {@link
     * Windows#free}.
     */
    public void close() {
        table.lock().lock();
        try {
            unbind();
            closed = true;
        } finally {
            table.lock().unlock();
        }
    }
}
