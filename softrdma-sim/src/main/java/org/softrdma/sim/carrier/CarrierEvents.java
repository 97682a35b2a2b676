package org.softrdma.sim.carrier;

/** What happens to a stream beside its segments. Engine thread only. */
public interface CarrierEvents {
    /** False once the stream has ended on this side, perhaps by the last call. */
    boolean isReceiving();

    /** A whole segment has come. */
    void segmentReceived();

    /** The peer has ended the stream. */
    void endOfStream();

    /** An FPDU had a wrong CRC: the stream goes down. */
    void crcWrong();

    /** What was received may have ended at a page that is gone: asks to be tried again later, without an event. */
    void lookAgain();
}
