package org.softrdma.fabric.scheduler;

/** Something that happens without a thread, as a network that delivers. Called by the running thread. */
public interface Source {
    /** There is nothing to come. */
    long NEVER = Long.MAX_VALUE;

    /** When it has something to do next, by the clock; {@link #NEVER} if it has nothing. */
    long nextNs();

    /** Does one thing of what is due. */
    void step();
}
