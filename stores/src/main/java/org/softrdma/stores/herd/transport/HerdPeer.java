package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;

/** A client as the server's transport knows it. Owned by the server's thread, but for what is said to be a worker's. */
public interface HerdPeer {
    /**
     * Most clients whose memory a port holds: those that are there, and some that are gone, if a worker stands still that
     * might look into their slots. There are no new ones then.
     *
     * @param connections most that may be there
     */
    static int mostHeld(int connections) {
        return connections + connections / 4 + 16;
    }

    /** Its slots, which it WRITEs at any time. Each worker reads those of its own. */
    MemorySegment slots();

    /**
     * The answers of a worker to it. The worker's.
     *
     * @param worker its number
     */
    HerdReplies replies(int worker);

    /** False once it is gone. */
    boolean isOpen();

    /** Ends it: it has done what it must not, or it is here twice. Its memory stays until it is released. */
    void drop();

    /** Frees its memory: it is gone, and no worker looks into its slots or answers it any more. */
    void release();
}
