package org.softrdma.sim.memory;

import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The windows that are bound on one queue pair, which only its peer can use. Their rows have the negative number of the
 * queue pair where those of regions have their domain: so a key of a window is of another domain for everybody else. A
 * window that its domain shares has that domain.
 *
 * <p>The thread of the queue pair's engine binds, unbinds and checks. A window may be closed by any thread meanwhile.
 */
public final class StreamWindows {
    private final StagTable table;
    private final int domain;
    private final int stream;
    /** By their keys; null before the first. Under the table's lock. */
    private @Nullable Int2ObjectHashMap<Window> bound;

    /**
     * None.
     *
     * @param table where they have their rows
     * @param domain protection domain of the queue pair
     * @param queuePair its number, more than 0
     */
    public StreamWindows(StagTable table, int domain, int queuePair) {
        this.table = table;
        this.domain = domain;
        stream = -queuePair;
    }

    /**
     * Checks an access of the peer as {@link StagTable#check} does, when the key is of another domain: perhaps it is a
     * window's.
     *
     * @param row found
     * @param rights rights needed
     * @param address first address as the peer names it
     * @param length bytes, more than 0
     */
    public AccessResult check(int row, int rights, long address, long length) {
        return table.check(row, stream, rights, address, length);
    }

    /**
     * Binds a window to part of a region.
     *
     * @param window to be bound
     * @param key its key from now on, from {@link Window#nextKey}
     * @param lkey of the region
     * @param address first address of the part, as entries name it
     * @param length bytes of the part
     * @param rights what the peer may do
     * @return false if that cannot be; then nothing has changed
     */
    public boolean bind(Window window, int key, int lkey, long address, long length, int rights) {
        int writes = AccessRights.REMOTE_WRITE | AccessRights.REMOTE_ATOMIC;
        int needed =
                AccessRights.BIND_WINDOWS | ((rights & writes) != 0 ? AccessRights.LOCAL_WRITE : AccessRights.NONE);
        table.lock().lock();
        try {
            if (!window.isBindable() || window.domain() != domain || table.isTaken(key, window.row())) {
                return false;
            }
            if (length == 0 && window.isOfDomain()) {
                window.unbind();
                return true;
            }
            int region = table.findLocal(lkey);
            if (length <= 0 || table.check(region, domain, needed, address, length) != AccessResult.GRANTED) {
                return false;
            }
            window.unbind();
            int all = (rights & ~AccessRights.ZERO_BASED_WINDOW)
                    | AccessRights.WINDOW
                    | (table.rights(region) & AccessRights.WAYS);
            Binding binding = new Binding(table.binding(region), table.rawAddress(region, address), all);
            boolean shared = window.isOfDomain();
            if (!shared) {
                remember(key, window);
            }
            window.bound(this, key, region);
            long base = (rights & AccessRights.ZERO_BASED_WINDOW) != 0 ? 0 : address;
            table.bindWindow(window.row(), key, binding, base, length, all, shared ? domain : stream, region);
            return true;
        } finally {
            table.lock().unlock();
        }
    }

    private void remember(int key, Window window) {
        Int2ObjectHashMap<Window> known = bound;
        if (known == null) {
            known = new Int2ObjectHashMap<>();
            bound = known;
        }
        known.put(key, window);
    }

    /** The window with this key is not bound any more. Under the table's lock. */
    void forget(int key) {
        if (bound != null) {
            bound.remove(key);
        }
    }

    /** True if a key is that of a window that is bound here. */
    public boolean isBound(int key) {
        int row = table.findRemote(key);
        return row >= 0 && table.domain(row) == stream;
    }

    /**
     * Takes a key back: no later look-up finds it, and {@link Binding#isAlive} is false. The caller asks again whatever
     * it has found before.
     *
     * @return false if no window that is bound here has this key
     */
    public boolean invalidate(int key) {
        table.lock().lock();
        try {
            Window window = bound == null ? null : bound.get(key);
            if (window == null) {
                return false;
            }
            window.unbind();
            return true;
        } finally {
            table.lock().unlock();
        }
    }

    /** The queue pair is gone: all keys are taken back. */
    public void close() {
        table.lock().lock();
        try {
            while (bound != null && !bound.isEmpty()) {
                bound.values().iterator().next().unbind();
            }
        } finally {
            table.lock().unlock();
        }
    }
}
