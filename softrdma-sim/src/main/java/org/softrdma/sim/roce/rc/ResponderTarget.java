package org.softrdma.sim.roce.rc;

import org.softrdma.verbs.CompletionStatus;

/**
 * What the requests of a peer act on: the memory and the receive queue of a queue pair. Each method takes effect at
 * once, and none of them waits. Keys and addresses are a peer's: anything may come.
 */
public interface ResponderTarget {
    /** True if the queue pair serves requests of this kind, by whatever key. */
    boolean serves(int opcode);

    /** True if there is a RECV for the message that begins, or has begun. */
    boolean hasReceive();

    /** Bytes of that RECV's buffer. */
    long receiveLength();

    /**
     * Copies part of a message into the RECV's buffer.
     *
     * @param offset in the message
     * @param payload where the bytes are
     * @param length how many there are, more than 0
     * @return false if the buffer may not be written
     */
    boolean placeInReceive(long offset, long payload, int length);

    /** The RECV has its message, which may raise a solicited event. */
    void completeReceive(long length, boolean solicited);

    /** As {@link #completeReceive}, of a SEND that has invalidated a key. */
    void completeInvalidating(long length, boolean solicited, int key);

    /**
     * As {@link #completeReceive}, of a message with immediate data.
     *
     * @param length bytes of the message
     * @param immediate the word
     * @param solicited may raise a solicited event
     * @param write the message is a WRITE, so that the buffer is as it was
     */
    void completeImmediate(long length, int immediate, boolean solicited, boolean write);

    /** The RECV fails; the queue pair goes to error after this. */
    void failReceive(CompletionStatus status);

    /** Invalidates a key of this queue pair; false if it is not one. */
    boolean invalidate(int key);

    /** True if the peer may write, more than 0 bytes. */
    boolean mayWrite(int rkey, long address, long length);

    /** Copies part of a WRITE into memory; false if it may not be written any more. More than 0 bytes. */
    boolean write(int rkey, long address, long payload, int length);

    /**
     * All of a WRITE has come, perhaps no bytes.
     *
     * @return false if the memory of its end may not be written any more
     */
    boolean completeWrite(long length);

    /** True if the peer may read, more than 0 bytes. */
    boolean mayRead(int rkey, long address, long length);

    /** True if the peer may change a word, whose address is a multiple of 8. */
    boolean mayChangeWord(int rkey, long address);

    /** Adds to a word; false if that cannot be. */
    boolean fetchAndAdd(int rkey, long address, long operand);

    /** Replaces a word if it is as expected; false if that cannot be. */
    boolean compareAndSwap(int rkey, long address, long expected, long replacement);

    /** What the word was before the last of these. */
    long original();

    /**
     * True if memory could not be reached because the process whose memory it is has ended. Its peer hears nothing, as of a
     * host that is gone, and not that it has done wrong.
     */
    boolean ownerHasEnded();
}
