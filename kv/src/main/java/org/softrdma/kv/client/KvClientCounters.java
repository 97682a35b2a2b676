package org.softrdma.kv.client;

import org.softrdma.kv.client.rdma.TouchCounts;

/** What a client counts, over all its connections. Written by its owning thread. */
public final class KvClientCounters {
    long reads;
    long hits;
    long stale;
    long torn;
    long forwarded;
    long keyMismatches;
    long expired;
    long rgets;
    long tcpGets;
    long connections;
    final TouchCounts touches = new TouchCounts();

    KvClientCounters() {}

    void count(ReadOutcome outcome) {
        switch (outcome) {
            case HIT -> hits++;
            case STALE -> stale++;
            case FORWARDED -> forwarded++;
            case TORN -> torn++;
            case KEY_MISMATCH -> keyMismatches++;
            case EXPIRED -> expired++;
            case LOST -> {} // of no READ that was done
        }
    }

    /** READs posted, including those that followed a forward locator. */
    public long reads() {
        return reads;
    }

    /** GETs served by READ. */
    public long hits() {
        return hits;
    }

    /** READs that found a dead item. */
    public long stale() {
        return stale;
    }

    /** READs whose bytes did not belong together. */
    public long torn() {
        return torn;
    }

    /** READs that found a forward locator. */
    public long forwarded() {
        return forwarded;
    }

    /** READs that found another key. */
    public long keyMismatches() {
        return keyMismatches;
    }

    /** READs that found an item that had expired, or may have. */
    public long expired() {
        return expired;
    }

    /** GETs for which the client asked the server to WRITE the item. */
    public long rgets() {
        return rgets;
    }

    /** GETs that were served over the memcached connection only. */
    public long tcpGets() {
        return tcpGets;
    }

    /** Touch reports sent. */
    public long touchReports() {
        return touches.reports();
    }

    /** READs whose items were named in touch reports; of an item that is READ again and again, two in an interval. */
    public long touchesNamed() {
        return touches.named();
    }

    /**
     * READs that were reported by number only, without their items: a report was full and the last one not yet
     * answered.
     */
    public long touchesDropped() {
        return touches.dropped();
    }

    /** Number of times the client connected, including the first. */
    public long connections() {
        return connections;
    }

    @Override
    public String toString() {
        return "reads=" + reads + " hits=" + hits + " stale=" + stale + " torn=" + torn + " forwarded=" + forwarded
                + " keyMismatches=" + keyMismatches + " expired=" + expired + " rgets=" + rgets + " tcpGets="
                + tcpGets + " touchReports=" + touchReports() + " touchesNamed=" + touchesNamed()
                + " touchesDropped=" + touchesDropped() + " connections="
                + connections;
    }
}
