package org.softrdma.verbs.provider;

import java.util.concurrent.TimeUnit;

/** Time limits in messages. */
public final class TimeLimit {
    private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private TimeLimit() {}

    /**
     * A time limit with its unit. One that is not a whole number of milliseconds is shown as it was passed: whoever
     * mistakes the unit then sees it.
     *
     * @param ns nanoseconds
     */
    public static String text(long ns) {
        return ns >= NS_PER_MS && ns % NS_PER_MS == 0 ? ns / NS_PER_MS + " ms" : ns + " ns";
    }
}
