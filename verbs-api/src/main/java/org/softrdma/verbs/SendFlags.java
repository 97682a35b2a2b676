package org.softrdma.verbs;

/** Flags of a send work request, to be or-ed (C: {@code IBV_SEND_*}). */
public final class SendFlags {
    /** No flag: no completion unless the request fails. */
    public static final int NONE = 0;
    /** Wait until earlier READs have completed. */
    public static final int FENCE = 1;
    /** Give a completion. */
    public static final int SIGNALLED = 1 << 1;
    /** The peer's RECV raises a solicited event; only SEND. */
    public static final int SOLICITED = 1 << 2;
    /**
     * Take the data at posting: the buffer may be reused at once and its lkey is not looked at; only SEND and WRITE. Entries
     * are then addresses of this process, also for a ZERO_BASED region, and raw ones are read unchecked.
     */
    public static final int INLINE = 1 << 3;

    private SendFlags() {}
}
