package org.softrdma.sim.carrier;

/** Events of a stream apart from its segments. Engine thread only. */
public interface CarrierEvents {
    /** False once the stream has ended on this side, perhaps by the last call. */
    boolean isReceiving();

    /** A whole segment has arrived. */
    void segmentReceived();

    /** The peer has ended the stream. */
    void endOfStream();

    /** An FPDU had a wrong CRC, which ends the stream. */
    void crcWrong();

    /** The peer has left an FPDU unfinished that takes memory which others need, which ends the stream. */
    void stalled();

    /** A receive may have stopped at a page that is gone: asks for another attempt later, without an event. */
    void retryReceive();
}
