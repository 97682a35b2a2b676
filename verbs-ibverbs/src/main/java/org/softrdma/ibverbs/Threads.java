package org.softrdma.ibverbs;

/** Waiting for a thread to end. */
public final class Threads {
    private Threads() {}

    /**
     * Waits for its end; an interrupt is kept for later.
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
