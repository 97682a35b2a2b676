package org.softrdma.sim.roce.rc;

import java.util.concurrent.TimeUnit;

/**
 * How many packets a connection may have on its way, by what the network does to them; in the manner of Swift (Kumar et al.,
 * SIGCOMM 2020), but it begins to watch the delay when packets are lost.
 *
 * <p>A round trip that is long says that packets wait somewhere. If none of them is lost, they may as well wait there, and a host
 * that is busy makes round trips long, too. So the window grows to its limit until a packet is lost. From then on, for {@link
 * #REMEMBERED_NS}, a round trip beyond the target makes it smaller, by how much it is beyond; the target is twice the
 * shortest recent one.
 *
 * <p>A loss makes it smaller only as far as packets were waiting: what a cable damages is no reason to send less. If so much is lost
 * that nobody knows how long a round trip is, it halves. Nothing makes it smaller twice in one round trip. Without a clock: the owner says what time it is. Engine thread only.
 */
final class CongestionWindow {
    /** The window is never smaller: a lost packet is noticed by those behind it. */
    static final int LEAST = 4;

    /** Where it begins. */
    static final int FIRST = 16;

    /** Round trips are not aimed at below this: threads that sleep and wake make as much. */
    static final long LEAST_TARGET_NS = TimeUnit.MICROSECONDS.toNanos(200);

    /** For so long a loss and the shortest round trip are remembered. */
    static final long REMEMBERED_NS = TimeUnit.SECONDS.toNanos(10);

    /** A round trip so many times as long as the shortest one has waited somewhere. */
    private static final int WAITED_ROUND_TRIPS = 2;

    private static final double EXCESS_WEIGHT = 0.8;
    private static final double MOST_DECREASE = 0.5;

    private static final long NONE = Long.MAX_VALUE;

    private final int most;
    private final boolean fixed;

    private double packets;
    /** It doubles with each round trip, until it becomes smaller for the first time. */
    private boolean doubles = true;

    // The shortest round trip of this half of the time remembered, and of the one before.
    private long shortestNs = NONE;
    private long shortestBeforeNs = NONE;
    private long halfBeganNs;
    /** The last one that was measured. */
    private long lastNs = NONE;

    /** Since the last loss. */
    private boolean hasMeasured;

    private boolean hasLost;
    private long lostNs;
    private boolean hasDecreased;
    private long decreasedNs;
    private long decreases;

    /**
     * A window of a connection that has sent nothing.
     *
     * @param most packets
     * @param fixed it has that size always
     */
    CongestionWindow(int most, boolean fixed) {
        this.most = most;
        this.fixed = fixed;
        packets = fixed ? most : Math.min(most, FIRST);
    }

    /** The packets that may be on their way. */
    int packets() {
        return (int) packets;
    }

    /** How often it became smaller. */
    long decreases() {
        return decreases;
    }

    /** Packets were acknowledged, or answered. */
    void acknowledged(int count, long nowNs) {
        boolean tooLong = remembersLoss(nowNs) && lastNs != NONE && lastNs > targetNs();
        if (packets < most && !tooLong) {
            packets = Math.min(most, packets + (doubles ? count : count / packets));
        }
    }

    /** From a packet that was sent once to its answer. */
    void measured(long roundTripNs, long nowNs) {
        if (nowNs - halfBeganNs >= REMEMBERED_NS / 2) {
            shortestBeforeNs = nowNs - halfBeganNs >= REMEMBERED_NS ? NONE : shortestNs;
            shortestNs = NONE;
            halfBeganNs = nowNs;
        }
        shortestNs = Math.min(shortestNs, roundTripNs);
        lastNs = roundTripNs;
        hasMeasured = true;
        long targetNs = targetNs();
        if (roundTripNs > targetNs && remembersLoss(nowNs)) {
            decrease(1 - EXCESS_WEIGHT * (roundTripNs - targetNs) / roundTripNs, nowNs);
        }
    }

    private long shortestNs() {
        return Math.min(shortestNs, shortestBeforeNs);
    }

    private long targetNs() {
        return Math.max(LEAST_TARGET_NS, WAITED_ROUND_TRIPS * shortestNs());
    }

    private boolean remembersLoss(long nowNs) {
        return hasLost && nowNs - lostNs < REMEMBERED_NS;
    }

    /** A packet was lost; others behind it have arrived. */
    void lost(long nowNs) {
        hasLost = true;
        lostNs = nowNs;
        boolean isKnown = hasMeasured;
        hasMeasured = false;
        if (!isKnown) {
            decrease(MOST_DECREASE, nowNs);
        } else {
            decrease((double) WAITED_ROUND_TRIPS * shortestNs() / lastNs, nowNs);
        }
    }

    /** Time has run out. If nothing is known to be lost, it was most likely a peer that was held up for a while. */
    void ranOut(long nowNs) {
        if (remembersLoss(nowNs)) {
            decrease(MOST_DECREASE, nowNs);
        }
    }

    private void decrease(double factor, long nowNs) {
        boolean again = hasDecreased && lastNs != NONE && nowNs - decreasedNs < lastNs;
        double smaller = Math.max(Math.min(LEAST, most), packets * Math.max(MOST_DECREASE, factor));
        if (!fixed && !again && smaller < packets) {
            packets = smaller;
            doubles = false;
            hasDecreased = true;
            decreasedNs = nowNs;
            decreases++;
        }
    }
}
