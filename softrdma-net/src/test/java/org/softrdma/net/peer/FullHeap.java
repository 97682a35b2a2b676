package org.softrdma.net.peer;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Fills the heap of its process to the last bytes, keeps it full for a moment, and lets go. One thread. */
public final class FullHeap {
    private static final int[] PIECES = {1 << 20, 64 << 10, 4 << 10, 256, 0};
    private static final long FULL_NS = TimeUnit.MILLISECONDS.toNanos(60);
    private static final int MOST_PIECES = 1 << 17;

    private final Object[] held = new Object[MOST_PIECES];
    private final Random random;
    private final int mostPauseMs;

    /**
     * Nothing is filled.
     *
     * @param seed of the pauses
     * @param mostPauseMs between two fillings
     */
    public FullHeap(long seed, int mostPauseMs) {
        random = new Random(seed);
        this.mostPauseMs = mostPauseMs;
        int ignored = fill(1); // so that nothing is done for the first time while the heap is full
        letGo();
        hold(1);
    }

    /** Fills it again and again, for some time. */
    public void fillFor(long durationNs) {
        long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < durationNs) {
            int ignored = fill(MOST_PIECES);
            hold(FULL_NS);
            letGo();
            hold(TimeUnit.MILLISECONDS.toNanos(random.nextInt(mostPauseMs)));
        }
    }

    /** Fills it once, and lets go when the work is done. The work has been done before, at least once. */
    public void whileFull(Runnable work) {
        int ignored = fill(MOST_PIECES);
        try {
            work.run();
        } finally {
            letGo();
        }
    }

    private int fill(int most) {
        int count = 0;
        for (int bytes : PIECES) {
            try {
                while (count < most) {
                    held[count] = new byte[bytes];
                    count++;
                }
            } catch (OutOfMemoryError e) {
                // Smaller ones fit, perhaps.
            }
        }
        return count;
    }

    private void letGo() {
        Arrays.fill(held, null);
    }

    private static void hold(long durationNs) {
        long startNs = System.nanoTime();
        for (long left = durationNs; left > 0; left = durationNs - (System.nanoTime() - startNs)) {
            LockSupport.parkNanos(left);
        }
    }
}
