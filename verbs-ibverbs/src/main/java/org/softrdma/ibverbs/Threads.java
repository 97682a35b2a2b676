package org.softrdma.ibverbs;

/** Waits for threads to end. */
public final class Threads {
    private Threads() {}

    /**
     * Waits for a thread to end. An interrupt stays set for later.
     *
     * @param thread started
     */
    public static void join(Thread thread) {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
