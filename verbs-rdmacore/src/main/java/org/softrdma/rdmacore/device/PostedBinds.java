package org.softrdma.rdmacore.device;

import org.jspecify.annotations.Nullable;

/**
 * The last binds of a queue pair, by the numbers of their requests: when one fails, its window has the key again that it
 * had before ({@link CoreMemoryWindow}). A bind whose completion is never polled, because its queue pair was closed
 * before, counts as done.
 *
 * <p>Threads: who posts adds, under the lock of the send queue, before the request is in the ring; who polls reads after
 * it has found the request there, and before its slot is free again.
 */
final class PostedBinds {
    private final int slots;
    private @Nullable CoreMemoryWindow[] windows = {};
    private long[] sequences = {};
    private long[] binds = {};
    private long[] before = {};

    /**
     * None.
     *
     * @param maxSends requests of the send queue
     */
    PostedBinds(int maxSends) {
        slots = Integer.highestOneBit(Math.max(1, maxSends - 1)) << 1;
    }

    /**
     * A bind is about to be posted. The first of a queue pair allocates.
     *
     * @param sequence its number in the send queue
     * @param window open
     * @return the key that it gives the window
     */
    int add(long sequence, CoreMemoryWindow window) {
        if (windows.length == 0) {
            windows = new CoreMemoryWindow[slots];
            sequences = new long[slots];
            binds = new long[slots];
            before = new long[slots];
        }
        int slot = slot(sequence);
        before[slot] = window.held();
        binds[slot] = window.posting();
        windows[slot] = window;
        sequences[slot] = sequence;
        return window.key(binds[slot]);
    }

    /** The driver did not take a bind. */
    void takeBack(long sequence) {
        int slot = slot(sequence);
        CoreMemoryWindow window = windows[slot];
        if (window != null) {
            window.takeBack(binds[slot], before[slot]);
        }
        windows[slot] = null;
    }

    /** A request has failed; it may be a bind. */
    void failed(long sequence) {
        if (windows.length == 0) {
            return;
        }
        int slot = slot(sequence);
        CoreMemoryWindow window = windows[slot];
        if (window != null && sequences[slot] == sequence) {
            window.failed(binds[slot], before[slot]);
        }
    }

    private int slot(long sequence) {
        return (int) sequence & (slots - 1);
    }
}
