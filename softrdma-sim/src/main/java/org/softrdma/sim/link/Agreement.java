package org.softrdma.sim.link;

/** What both ends of a connection have agreed on. Immutable. */
public interface Agreement {
    /** READs and atomics that this side may have in flight. */
    int outboundReads();

    /** READs and atomics that the peer may have in flight. */
    int inboundReads();

    /** What the wire is, for people. */
    String description();
}
