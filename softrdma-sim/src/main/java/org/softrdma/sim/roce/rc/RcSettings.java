package org.softrdma.sim.roce.rc;

/**
 * What two ends of a reliable connection have agreed on.
 *
 * @param transferUnit bytes of payload in a full packet: 256, 512, 1024, 2048 or 4096
 * @param outboundReads READs and atomics that this side may have in flight, 0 to 255
 * @param inboundReads READs and atomics that this side serves and remembers, 0 to 255
 * @param window packets of SENDs and WRITEs that may be unacknowledged, at least 4
 * @param readWindow packets of answers to READs that may be in flight, more than 0; those of one request in any case
 * @param fixed both windows have their size always; else they are the most, and the {@link CongestionWindow} decides
 * @param timeoutNs after so long without progress, or sooner if the round trip is shorter, the oldest packet is sent
 *     again; 0 is never
 * @param retries how often in a row without progress, 0 to 7, or more for a peer in manual progress; of those within one {@code timeoutNs} the first counts
 * @param rnrRetries how often in a row a peer may say that it is not ready, 0 to 6; 7 is for ever
 * @param rnrTimer code of the time that this side asks a peer to wait for, see {@link
 *     org.softrdma.sim.roce.wire.RnrTimer}
 */
public record RcSettings(
        int transferUnit,
        int outboundReads,
        int inboundReads,
        int window,
        int readWindow,
        boolean fixed,
        long timeoutNs,
        int retries,
        int rnrRetries,
        int rnrTimer) {
    /** Retries that never end. */
    public static final int FOR_EVER = 7;

    /**
     * The same for another responder.
     *
     * @param newInboundReads READs and atomics that its peer may have in flight
     * @param newRnrTimer code of the time that it asks its peer to wait for
     */
    public RcSettings serving(int newInboundReads, int newRnrTimer) {
        return new RcSettings(
                transferUnit,
                outboundReads,
                newInboundReads,
                window,
                readWindow,
                fixed,
                timeoutNs,
                retries,
                rnrRetries,
                newRnrTimer);
    }

    /**
     * The same for another requester.
     *
     * @param newOutboundReads READs and atomics that it may have in flight
     * @param newTimeoutNs its longest timeout; 0 is never
     * @param newRetries how often in a row
     * @param newRnrRetries how often in a row a peer may say that it is not ready
     */
    public RcSettings requesting(int newOutboundReads, long newTimeoutNs, int newRetries, int newRnrRetries) {
        return new RcSettings(
                transferUnit,
                newOutboundReads,
                inboundReads,
                window,
                readWindow,
                fixed,
                newTimeoutNs,
                newRetries,
                newRnrRetries,
                rnrTimer);
    }

    /** Packets that one request of a READ asks for at most. */
    public int readPackets() {
        return Math.max(1, readWindow / 2);
    }
}
