package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;

/** The answers of a worker to a client. Owned by the worker's thread. */
public interface HerdReplies {
    /** True if there is room for so many more. */
    boolean hasRoom(int answers);

    /** Where answers are laid out. */
    MemorySegment memory();

    /** Where the next one begins. Needs {@link #hasRoom}. */
    long nextAt();

    /**
     * The next one is laid out; {@link #flush} sends it, if nothing has before.
     *
     * @param length its bytes
     */
    void add(int length);

    /** Sends what was added, with one doorbell; maybe also what was added for other clients. */
    void flush();
}
