package org.softrdma.sim.roce.cm;

/** How often and when a message is sent again: first soon, then after twice as long each time, up to a limit. One thread. */
final class Repetition {
    private final CmSettings settings;
    private long waitNs;
    private int left;

    Repetition(CmSettings settings) {
        this.settings = settings;
    }

    /**
     * A message was sent for the first time.
     *
     * @param repeats how often it may be sent again
     * @param nowNs the time
     * @return when it is to be sent again
     */
    long begin(int repeats, long nowNs) {
        left = repeats;
        waitNs = settings.firstRepeatNs();
        return nowNs + waitNs;
    }

    /** As {@link #begin}, of a message that its receiver may take for another one when it comes again: not soon. */
    long beginSlowly(int repeats, long nowNs) {
        left = repeats;
        waitNs = settings.mostRepeatNs();
        return nowNs + waitNs;
    }

    /** True if it may be sent once more; that is counted. */
    boolean once() {
        boolean may = left > 0;
        left--;
        return may;
    }

    /** It was sent again; returns when next. */
    long next(long nowNs) {
        waitNs = Math.min(2 * waitNs, settings.mostRepeatNs());
        return nowNs + waitNs;
    }

    /** The peer has it and needs so long to answer; returns when it is to be sent again nevertheless. */
    long received(int serviceTimeout, long nowNs) {
        return nowNs + Math.min(CmTime.ns(serviceTimeout), settings.mostServiceTimeNs()) + settings.mostRepeatNs();
    }
}
