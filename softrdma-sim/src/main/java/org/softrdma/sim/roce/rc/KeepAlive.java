package org.softrdma.sim.roce.rc;

/**
 * Whether a peer is still there: each time that somebody looks and nothing has come for a part of the host timeout, it is
 * asked; once nothing has come for all of it, in spite of some questions, it is gone. A process that was stopped itself has
 * not asked yet. A peer in manual progress answers only while its owner drives it, so it is gone after hours, as TCP's
 * keep-alive has it by default. Engine thread only.
 */
public final class KeepAlive {
    /** Looks in a host timeout, and questions before a peer is gone. */
    private static final int PARTS = 4;

    private static final int LEAST_QUESTIONS = 3;

    /** Of a peer in manual progress: 2 hours, tcp_keepalive_time (tcp(7)). */
    private static final long MANUAL_NS = 7_200_000_000_000L;

    private final long hostNs;
    private final long goneNs;
    private long heardNs;
    private int questions;

    /**
     * A peer that was just heard.
     *
     * @param hostNs after so long without a word it is gone; 0 is never
     * @param manualProgress its owner drives it: it is gone after 2 hours, if that is longer
     * @param nowNs the time
     */
    public KeepAlive(long hostNs, boolean manualProgress, long nowNs) {
        this.hostNs = hostNs;
        goneNs = manualProgress ? Math.max(hostNs, MANUAL_NS) : hostNs;
        heardNs = nowNs;
    }

    /** Something of the peer has come. */
    public void heard(long nowNs) {
        heardNs = nowNs;
        questions = 0;
    }

    /** True if the peer is to be asked, or is gone. */
    public boolean isSilent(long nowNs) {
        return hostNs > 0 && nowNs - heardNs >= hostNs / PARTS;
    }

    /** True if the peer is gone. */
    public boolean isGone(long nowNs) {
        return hostNs > 0 && questions >= LEAST_QUESTIONS && nowNs - heardNs >= goneNs;
    }

    /** It was asked. */
    public void asked() {
        questions++;
    }
}
