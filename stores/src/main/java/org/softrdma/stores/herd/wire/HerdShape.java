package org.softrdma.stores.herd.wire;

/**
 * The slots of a client: {@code window} of them for the first worker, then as many for the next. Immutable.
 *
 * @param workers of the server
 * @param window slots of each
 * @param slotLength bytes of a slot, a multiple of 64
 */
public record HerdShape(int workers, int window, int slotLength) {
    /** Most workers: as many as the upper bits of a hash tell apart evenly. */
    public static final int MOST_WORKERS = 256;

    private static final int WORKER_SHIFT = 48;
    /** The length of a slot is a multiple of it. */
    static final int LINE = 64;

    /** Checks. */
    public HerdShape {
        if (workers < 1 || workers > MOST_WORKERS || window < 1 || slotLength < LINE || slotLength % LINE != 0) {
            throw new IllegalArgumentException("workers=" + workers + ", window=" + window + ", slotLength="
                    + slotLength + ": expected 1 to " + MOST_WORKERS + ", at least 1, a multiple of " + LINE);
        }
        if ((long) workers * window * slotLength > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("workers=" + workers + " with " + window + " slots of " + slotLength
                    + " bytes: expected less than 2^31 bytes");
        }
    }

    /** The length of slots that have room for requests of this length. */
    public static int slotLength(int request) {
        return request + LINE - 1 & -LINE;
    }

    /** How many slots there are. */
    public int slots() {
        return workers * window;
    }

    /** Bytes of all slots. */
    public int length() {
        return slots() * slotLength;
    }

    /** Where a slot ends, in bytes from the first. */
    public long end(int slot) {
        return (slot + 1L) * slotLength;
    }

    /** A worker's first slot. */
    public int firstSlot(int worker) {
        return worker * window;
    }

    /** The worker that a slot belongs to. */
    public int workerOf(int slot) {
        return slot / window;
    }

    /** The slot behind one, of the same worker: its slots are a ring. */
    public int next(int slot) {
        return (slot + 1) % window == 0 ? slot + 1 - window : slot + 1;
    }

    /** The worker that owns the keys with this hash. */
    public int worker(long hash) {
        return (int) (((hash >>> WORKER_SHIFT) * workers) >>> (Long.SIZE - WORKER_SHIFT));
    }
}
