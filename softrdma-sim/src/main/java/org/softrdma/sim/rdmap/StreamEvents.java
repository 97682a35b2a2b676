package org.softrdma.sim.rdmap;

import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.CompletionStatus;

/** What messages do to their stream. Engine thread only. */
public interface StreamEvents {
    /** False once the stream has ended on this side, perhaps by the last call. */
    boolean isReceiving();

    /** A WRITE or SEND has gone to TCP. */
    void requestSent(long sequence);

    /** The peer used a key, range or right that it does not have; {@link #terminate} follows. */
    void accessRefused();

    /**
     * This side ends the stream because of what the peer sent.
     *
     * @param cause why
     * @param segment FPDU of the segment that was wrong, its header complete, or 0
     */
    void terminate(TerminateCause cause, long segment);

    /** The Terminate of this side has gone to TCP. */
    void terminateSent();

    /**
     * The peer has terminated the stream.
     *
     * @param code layer, type and code
     * @param culprit sequence of the request it is about, or -1
     * @param status how that one ends
     */
    void terminated(int code, long culprit, CompletionStatus status);

    /** A local buffer of a request is wrong: everything before it is through, now it fails. */
    void localProtectionError(long sequence);

    /** The buffer of a request was deregistered when part of its segment had gone: no Terminate can follow. */
    void bufferGone(long sequence);
}
