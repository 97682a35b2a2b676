package org.softrdma.sim.roce.cm;

import java.util.concurrent.TimeUnit;

/**
 * How long a connection manager waits, and how often it repeats.
 *
 * @param firstRepeatNs from a message to its first repetition; from each to the next it is twice as long
 * @param mostRepeatNs but no longer than this
 * @param repeats of a REQ, REP or SIDR_REQ before it is given up
 * @param disconnectRepeats of a DREQ
 * @param mostServiceTimeNs longest time that a peer may ask for by an MRA
 * @param serviceTimeout t: an MRA of this side asks for 4.096 us x 2^t
 * @param timewaitNs how long a connection is remembered after its end, and its numbers are not used again
 * @param backlog requests of a service that wait for the application; what comes beyond is not heard, so the peer repeats it
 */
public record CmSettings(
        long firstRepeatNs,
        long mostRepeatNs,
        int repeats,
        int disconnectRepeats,
        long mostServiceTimeNs,
        int serviceTimeout,
        long timewaitNs,
        int backlog) {
    /** From 0.1 to 2 seconds, 15 times; a peer may ask for 5 minutes; timewait as in Linux. */
    public static final CmSettings DEFAULT = new CmSettings(
            TimeUnit.MILLISECONDS.toNanos(100),
            TimeUnit.SECONDS.toNanos(2),
            15,
            3,
            TimeUnit.MINUTES.toNanos(5),
            24,
            TimeUnit.MILLISECONDS.toNanos(4300),
            128);

    /** Checks. */
    public CmSettings {
        if (firstRepeatNs < 1 || mostRepeatNs < firstRepeatNs) {
            throw new IllegalArgumentException("firstRepeatNs=" + firstRepeatNs + ", mostRepeatNs=" + mostRepeatNs
                    + ": expected 1 <= firstRepeatNs <= mostRepeatNs");
        }
        if (repeats < 0 || disconnectRepeats < 0 || timewaitNs < 0 || backlog < 1) {
            throw new IllegalArgumentException("repeats=" + repeats + ", disconnectRepeats=" + disconnectRepeats
                    + ", timewaitNs=" + timewaitNs + ", backlog=" + backlog
                    + ": expected at least 0, and a backlog of at least 1");
        }
    }

    CmSettings withBacklog(int most) {
        return new CmSettings(
                firstRepeatNs,
                mostRepeatNs,
                repeats,
                disconnectRepeats,
                mostServiceTimeNs,
                serviceTimeout,
                timewaitNs,
                most);
    }
}
