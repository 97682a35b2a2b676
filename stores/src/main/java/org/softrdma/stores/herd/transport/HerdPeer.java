package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;

/** A client as the server's transport knows it. Owned by the server's thread. */
public interface HerdPeer {
    /** Its slots, which it WRITEs at any time. */
    MemorySegment slots();

    /** False once it is gone. */
    boolean isOpen();

    /** True if an answer can be sent now. */
    boolean hasRoom();

    /** Where answers are laid out. */
    MemorySegment replies();

    /** Where the next answer begins. Needs {@link #hasRoom}. */
    long nextReply();

    /**
     * Sends the next answer.
     *
     * @param length its bytes
     */
    void send(int length);

    /** Ends it: it has done what it must not, or it is here twice. */
    void drop();
}
