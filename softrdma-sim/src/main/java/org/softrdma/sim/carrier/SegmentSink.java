package org.softrdma.sim.carrier;

import org.softrdma.sim.engine.Placement;

/**
 * What takes the segments that a stream receives: says what each is and where its payload goes ({@link Placement}). Engine thread
 * only.
 */
public interface SegmentSink {
    /**
     * Bytes of a segment that must be there before it is looked at, from the start of its FPDU.
     *
     * @param control its control word
     */
    int headerLength(int control);

    /**
     * A segment begins: checks its header, and begins its {@link Placement} if it has payload.
     *
     * @param fpdu address of its FPDU
     * @param ulpdu bytes of its ULPDU
     * @param control its control word
     * @return false if the stream is on its way down
     */
    boolean begin(long fpdu, int ulpdu, int control);

    /** The run of the placement is full and payload is left: gives it another one. False if the stream is on its way down. */
    boolean nextRun();

    /** The memory of the run was deregistered in the middle of a segment: the stream goes down. */
    void runGone();

    /** The segment is over, pad and CRC field included. */
    void done();

    /** Bytes of payload that most likely come next as one message, or 0 if that is not known. */
    long expectedPayload();

    /** True if that is all that is expected. */
    boolean expectsOnlyOne();
}
