package org.softrdma.suites.kv;

import org.softrdma.kv.client.KvClientCounters;

/** What happened in races, to see that they were some. */
final class RaceFigures {
    long hits;
    long stale;
    long torn;
    long forwarded;
    long mismatched;
    long refused;
    long evicted;
    long expired;
    /** Pages that have changed their class. */
    long moved;
    /** Operations without an answer that may or may not have had an effect, those of killed nodes among them. */
    long unknown;
    /** Other requests that brought no answer, attempts to connect among them. */
    long unanswered;
    /** READs whose queue pair ended. */
    long lostReads;
    /** Nodes of clients that were killed or have lost their power. */
    long killed;

    void add(KvClientCounters counters) {
        hits += counters.hits();
        stale += counters.stale();
        torn += counters.torn();
        forwarded += counters.forwarded();
        mismatched += counters.keyMismatches();
    }

    void add(RaceFigures other) {
        hits += other.hits;
        stale += other.stale;
        torn += other.torn;
        forwarded += other.forwarded;
        mismatched += other.mismatched;
        refused += other.refused;
        evicted += other.evicted;
        expired += other.expired;
        moved += other.moved;
        unknown += other.unknown;
        unanswered += other.unanswered;
        lostReads += other.lostReads;
        killed += other.killed;
    }

    /** True if READs met changes, and items went for want of memory or time. */
    boolean areOfChanges() {
        return hits > 0 && stale > 0 && evicted > 0 && expired > 0;
    }

    /** True if also READs met items in the middle of a change, and pages moved, which a few seeds do not have. */
    boolean areOfRaces() {
        return areOfChanges() && torn > 0 && moved > 0;
    }

    /** True if faults met changes, READs and clients. */
    boolean areOfFaults() {
        return unknown > 0 && unanswered > 0 && lostReads > 0 && killed > 0;
    }

    @Override
    public String toString() {
        return hits + " hits, " + stale + " stale, " + torn + " torn, " + forwarded + " forwarded, " + mismatched
                + " of another key, " + refused + " refused, " + evicted + " evicted, " + expired + " expired, "
                + moved + " pages moved, "
                + unknown + " of unknown outcome, " + unanswered + " unanswered, " + lostReads + " READs lost, "
                + killed + " nodes killed";
    }
}
