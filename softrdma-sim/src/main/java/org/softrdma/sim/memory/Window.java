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
    private int row;
    /** Of the bind that was posted last. */
    private volatile int rkey;

    // Under the table's lock.
    /** Where it is bound, and by which key; null if it is not. */
    private @Nullable Holder holder;

    private int key = NONE;
    private int region;
    private boolean closed;

    /** Where windows are bound. */
    interface Holder {
        /** The window with this key is not bound any more. Under the table's lock. */
        void forget(int key);
    }

    Window(StagTable table, int domain) {
        this.table = table;
        this.domain = domain;
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
            int next = table.nextWindowKey(row);
            rkey = next;
            return next;
        } finally {
            table.lock().unlock();
        }
    }

    /** True while it can be bound. Under the lock. */
    boolean isBindable() {
        return !closed && holder == null;
    }

    /** It is bound. Under the lock. */
    void bound(Holder newHolder, int newKey, int newRegion) {
        holder = newHolder;
        key = newKey;
        region = newRegion;
    }

    /** Takes its key back, if it is bound. Under the lock. */
    void unbind() {
        Holder bound = holder;
        if (bound != null) {
            table.unbindWindow(row, region);
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
