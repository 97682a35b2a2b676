package org.softrdma.verbs;

/** Flags of a send work request. Combine them with {@code |} (C: {@code IBV_SEND_*}). */
public final class SendFlags {
    /** No flag: the request produces no completion unless it fails. */
    public static final int NONE = 0;
    /** Wait until earlier READs and atomics have completed. */
    public static final int FENCE = 1;
    /** Produce a completion on success, too. */
    public static final int SIGNALLED = 1 << 1;
    /**
     * The peer's RECV raises a solicited event. Only for requests that consume one: SENDs, and WRITE with immediate.
     */
    public static final int SOLICITED = 1 << 2;
    /**
     * Copy the data when posting: you can reuse the buffer at once, and its lkey does not matter. Only for SENDs and
     * WRITEs. Local entries are then addresses of this process, even if the region is ZERO_BASED, and the memory is
     * read without checks.
     */
    public static final int INLINE = 1 << 3;

    private SendFlags() {}
}
