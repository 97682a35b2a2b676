package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.stores.herd.wire.HerdWelcome;

/**
 * A client's end of what carries requests and answers, from the server's welcome on. Whoever implements it says by {@link
 * #mayWriteAgain} what it does with WRITEs and answers that nobody waits for any more. Owned by the client's thread,
 * which closes it.
 */
public interface HerdChannel extends AutoCloseable {
    /** What the server has told. */
    HerdWelcome welcome();

    /**
     * True if nothing is lost while the channel lasts: each WRITE that the server has seen brings an answer, and those of
     * a slot come in order.
     */
    boolean isReliable();

    /**
     * True if there may be an answer to one more WRITE into a slot.
     *
     * @param unanswered WRITEs into the slot that may bring an answer still
     */
    boolean mayWriteAgain(int unanswered);

    /** Where requests are laid out: slot for slot as at the server. */
    MemorySegment slots();

    /** The same memory. */
    ByteBuffer view();

    /** True if what is laid out in a slot may be changed: no WRITE reads it any more. */
    boolean isFree(int slot);

    /** True if there is room for one more WRITE now. */
    boolean hasRoom();

    /**
     * WRITEs a request: the end of a slot.
     *
     * @param slot where it is laid out
     * @param length its bytes
     */
    void write(int slot, int length);

    /**
     * Hands on what has come.
     *
     * @return false if the channel is lost
     */
    boolean poll(HerdReplyHandler handler);

    @Override
    void close();
}
