package org.softrdma.sim.roce.wire;

/**
 * What a REQ and a REP say of the end that sends them (IBA volume 1, 12.7).
 *
 * @param communicationId chosen by this end; a peer remembers it together with the GUID for its timewait
 * @param guid of this end's device
 * @param queuePair number of this end's queue pair
 * @param startingPsn the PSN with which the <em>other</em> end begins to send
 * @param responderResources the READs and atomics of the other end that this end serves at a time, 0 to 255
 * @param initiatorDepth the READs and atomics that this end will have under way at a time, 0 to 255
 * @param flowControl credits are given and heeded
 * @param rnrRetries how often the other end repeats after an RNR NAK, 0 to 6; 7 is for ever
 * @param sharedReceiveQueue this end's RECVs are of a shared receive queue
 * @param heldPackets packets that this end's socket has room for, of the other end; 0 if it does not say. Only software RNICs of
 *     this project say it, where others have nothing: in the field of the EE context, which belongs to a transport that
 *     nobody has. So what an application has to say stays as it is.
 * @param manualProgress this end answers only while its owner drives its device; the first bit of the same field
 */
public record CmEndpoint(
        int communicationId,
        long guid,
        int queuePair,
        int startingPsn,
        int responderResources,
        int initiatorDepth,
        boolean flowControl,
        int rnrRetries,
        boolean sharedReceiveQueue,
        int heldPackets,
        boolean manualProgress) {
    /** Most packets that can be told. */
    public static final int MOST_HELD = (1 << 23) - 1;

    private static final int MANUAL_PROGRESS = 1 << 23;

    /** What the field of the EE context says, 24 bits. */
    int context() {
        return heldPackets | (manualProgress ? MANUAL_PROGRESS : 0);
    }

    static int heldPackets(int context) {
        return context & MOST_HELD;
    }

    static boolean manualProgress(int context) {
        return (context & MANUAL_PROGRESS) != 0;
    }

    /** The same with another id and GUID. */
    public CmEndpoint identifiedBy(int newCommunicationId, long newGuid) {
        return new CmEndpoint(
                newCommunicationId,
                newGuid,
                queuePair,
                startingPsn,
                responderResources,
                initiatorDepth,
                flowControl,
                rnrRetries,
                sharedReceiveQueue,
                heldPackets,
                manualProgress);
    }
}
