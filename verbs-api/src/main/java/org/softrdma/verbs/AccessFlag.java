package org.softrdma.verbs;

/**
 * What a memory region may be used for (C: {@code IBV_ACCESS_*}). Local read is always allowed.
 *
 * <p>Besides the rights there are <em>intents</em>: name the use and the provider adds the rights which its transport needs
 * (some iWARP hardware wants REMOTE_WRITE on the sink of a READ).
 */
public enum AccessFlag {
    /** The device may write here for local requests: RECV and READ sinks. */
    LOCAL_WRITE,
    /** A peer may WRITE here; needs {@link #LOCAL_WRITE}. */
    REMOTE_WRITE,
    /** A peer may READ here. */
    REMOTE_READ,
    /** Addresses of this region start at 0, not at the memory's own address; needs {@link Feature#ZERO_BASED}. */
    ZERO_BASED,
    /** Intent: data of READs that this side posts lands here. */
    READ_SINK,
    /** Intent: data of RECVs lands here. */
    RECEIVE_SINK
}
