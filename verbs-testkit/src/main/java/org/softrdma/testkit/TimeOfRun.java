package org.softrdma.testkit;

/** Time where cases and walks run, and how their threads let it pass: the machine's, or a simulation's. Thread-safe. */
public interface TimeOfRun {
    /** The time, as {@link System#nanoTime} tells it on a machine. */
    long nanoTime();

    /**
     * Lets others run while the caller looks for something again and again.
     *
     * @param rounds how often this wait has come here before
     */
    void idle(int rounds);

    /**
     * Lets time pass.
     *
     * @param durationNs how much
     */
    void sleep(long durationNs);
}
