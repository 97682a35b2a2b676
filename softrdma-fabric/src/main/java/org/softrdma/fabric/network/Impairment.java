package org.softrdma.fabric.network;

import org.softrdma.fabric.scheduler.Source;

/** What delays one direction of a connection: a stall, or a slow reader. */
final class Impairment {
    private long stalledSinceNs;
    private long stalledUntilNs = Long.MIN_VALUE;
    private Pace pace = Pace.FREE;
    private long nextPieceNs = Long.MIN_VALUE;

    /**
     * How fast a reader reads.
     *
     * @param bytes most in one piece
     * @param perNs time from one piece to the next
     */
    record Pace(int bytes, long perNs) {
        /** As fast as bytes come. */
        static final Pace FREE = new Pace(Integer.MAX_VALUE, 0);
    }

    /** Nothing arrives for a time from now on; a stall that is there is made longer. */
    void stall(long nowNs, long durationNs) {
        if (stalledUntilNs <= nowNs) {
            stalledSinceNs = nowNs;
        }
        long untilNs = durationNs > Source.NEVER - nowNs ? Source.NEVER : nowNs + durationNs;
        stalledUntilNs = Math.max(stalledUntilNs, untilNs);
    }

    void pace(Pace newPace) {
        pace = newPace;
    }

    /** When something can arrive. */
    long openAtNs() {
        return Math.max(stalledUntilNs, nextPieceNs);
    }

    /** How many of some bytes arrive now; the next ones wait. */
    int arrive(long nowNs, int count) {
        nextPieceNs = nowNs + pace.perNs();
        return Math.min(count, pace.bytes());
    }

    /** How long nothing has been heard because of a stall. */
    long silentNs(long nowNs) {
        return stalledUntilNs > nowNs ? nowNs - stalledSinceNs : 0;
    }
}
