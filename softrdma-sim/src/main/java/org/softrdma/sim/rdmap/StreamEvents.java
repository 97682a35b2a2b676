package org.softrdma.sim.rdmap;

import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.CompletionStatus;

/** Events that messages cause on their stream. Engine thread only. */
public interface StreamEvents {
    /** False once the stream has ended on this side, perhaps by the last call. */
    boolean isReceiving();

    /** TCP has taken a WRITE or SEND. */
    void requestSent(long sequence);

    /** The peer used a key, range or right that it does not have; {@link #terminate} follows. */
    void accessRefused();

    /** The peer broke a rule; {@link #terminate} follows. */
    void requestRefused();

    /**
     * This side ends the stream because of what the peer sent.
     *
     * @param cause why
     * @param segment FPDU of the faulty segment, its header complete, or 0
     */
    void terminate(TerminateCause cause, long segment);

    /** TCP has taken this side's Terminate. */
    void terminateSent();

    /**
     * The peer has terminated the stream.
     *
     * @param code layer, type and code
     * @param meaning the same in words
     * @param culprit sequence of the request that it refers to, or -1
     * @param status status of that request's completion
     */
    void terminated(int code, String meaning, long culprit, CompletionStatus status);

    /** A local buffer of a request may not be used: everything before the request is complete, and now it fails. */
    void localProtectionError(long sequence);

    /**
     * A request cannot be executed: everything before it is complete, and now it fails.
     *
     * @param sequence of the request
     * @param status how it ends
     */
    void localError(long sequence, CompletionStatus status);

    /** The buffer of a request was deregistered after part of a segment was sent: no Terminate can follow. */
    void bufferGone(long sequence);
}
