package org.softrdma.verbs;

/**
 * What a memory region may be used for (C: {@code IBV_ACCESS_*}). The device may always read it for local requests.
 *
 * <p>Some of these are rights, and some are <em>intents</em>. An intent names a use, and the provider adds the rights
 * that its transport needs for it: some iWARP hardware requires REMOTE_WRITE on the sink of a READ.
 */
public enum AccessFlag {
    /** The device may write here for local requests: a RECV, or a READ of the peer's memory. */
    LOCAL_WRITE,
    /** A peer may WRITE here. Needs {@link #LOCAL_WRITE}. */
    REMOTE_WRITE,
    /** A peer may READ here. */
    REMOTE_READ,
    /**
     * A peer may change words here by compare-and-swap and fetch-and-add, even without {@link #REMOTE_READ} and {@link
     * #REMOTE_WRITE}. Needs {@link #LOCAL_WRITE} and {@link Feature#ATOMICS}. With {@link Feature#GLOBAL_ATOMICS}
     * READs and WRITEs never tear the aligned words of this memory ({@link MemoryRegion#coherentUnit()}).
     */
    REMOTE_ATOMIC,
    /** Windows may be bound to the region (C: {@code IBV_ACCESS_MW_BIND}). Needs {@link Feature#MEMORY_WINDOWS}. */
    BIND_WINDOWS,
    /** The region's addresses start at 0 instead of the memory's own address. Needs {@link Feature#ZERO_BASED}. */
    ZERO_BASED,
    /** Intent: READs that this side posts put their data here. */
    READ_SINK,
    /** Intent: RECVs put their data here. */
    RECEIVE_SINK,
    /**
     * Not a right: threads of this process access the memory while WRITEs and READs of it are in flight, without
     * waiting for a completion. {@link MemoryRegion#coherentUnit()} says what they can rely on. Needs {@link
     * Feature#ORDERED_PLACEMENT}, and {@link #LOCAL_WRITE} or {@link #REMOTE_READ}: with neither of these, there is no
     * access that a thread could see in part. The device copies such memory word by word, so use this flag only where
     * it is needed.
     */
    POLLED
}
