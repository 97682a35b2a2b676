package org.softrdma.fabric.baton;

/** Something that happens without a thread, as a network that delivers. Called by whoever holds the baton. */
public interface Source {
    /** There is nothing to come. */
    long NEVER = Long.MAX_VALUE;

    /** When it has something to do next, by the clock; {@link #NEVER} if it has nothing. */
    long nextNs();

    /** Does one thing of what is due. */
    void step();
}
