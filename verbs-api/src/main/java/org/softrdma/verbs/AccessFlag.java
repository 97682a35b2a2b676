package org.softrdma.verbs;

/**
 * What a memory region may be used for (C: {@code IBV_ACCESS_*}). The device may always read it for local requests.
 *
 * <p>Some of these are rights, and some are <em>intents</em>. An intent names a use, and the provider adds the rights
 * that its transport needs for it: some iWARP hardware wants REMOTE_WRITE on the sink of a READ.
 */
public enum AccessFlag {
    /** The device may write here for local requests: a RECV, or a READ of the peer's memory. */
    LOCAL_WRITE,
    /** A peer may WRITE here. Needs {@link #LOCAL_WRITE}. */
    REMOTE_WRITE,
    /** A peer may READ here. */
    REMOTE_READ,
    /** The region's addresses start at 0 and not at the memory's own address. Needs {@link Feature#ZERO_BASED}. */
    ZERO_BASED,
    /** Intent: READs that this side posts put their data here. */
    READ_SINK,
    /** Intent: RECVs put their data here. */
    RECEIVE_SINK
}
