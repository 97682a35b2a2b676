package org.softrdma.sim.memory;

import java.util.Optional;

/**
 * The memory windows of a device. A window has a row of the stag table from the time it is allocated, and with each bind
 * another of the 256 keys of that row. Bound, the row names part of a region for one stream ({@link StreamWindows}).
 *
 * <p>The row of a region must not be written again before no engine can still be reading it. That of a window may be:
 * its fields count for one stream only, and it is this stream's engine that binds and unbinds it there. Another thread
 * unbinds it only to close it, and then the row is free after {@link Quiescence#await}.
 *
 * <p>Thread-safe, under the table's lock, which is held for a few stores.
 */
public final class Windows {
    private final StagTable table;
    /** Under the lock. */
    private int live;

    /**
     * None.
     *
     * @param table where they have their rows
     */
    public Windows(StagTable table) {
        this.table = table;
    }

    /**
     * Allocates a window that is not bound.
     *
     * @param domain protection domain
     * @param ofDomain all queue pairs of the domain share it, as windows of type 1; else the one that has bound it has it alone
     * @return empty if the table is full
     */
    public Optional<Window> allocate(int domain, boolean ofDomain) {
        Window window = new Window(table, domain, ofDomain);
        Optional<Window> made = Optional.of(window);
        table.lock().lock();
        try {
            int row = table.takeWindow();
            if (row < 0) {
                return Optional.empty();
            }
            window.row(row);
            live++;
            return made;
        } finally {
            table.lock().unlock();
        }
    }

    /** Gives the row of a window back. Once, after {@link Window#close} and {@link Quiescence#await}. */
    public void free(Window window) {
        table.lock().lock();
        try {
            table.freeWindow(window.row());
            live--;
        } finally {
            table.lock().unlock();
        }
    }

    /** True if a window has its row in this table. */
    public boolean contains(Window window) {
        return window.isOf(table);
    }

    /** Number of windows. */
    public int live() {
        table.lock().lock();
        try {
            return live;
        } finally {
            table.lock().unlock();
        }
    }
}
