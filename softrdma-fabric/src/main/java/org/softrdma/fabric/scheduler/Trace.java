package org.softrdma.fabric.scheduler;

import java.util.ArrayList;
import java.util.List;

/**
 * What happened, step by step: a hash of everything, and the last steps in words. Two runs with one hash did the same.
 */
public final class Trace {
    /** Steps that are kept in words. */
    public static final int KEPT = 200;

    private static final long PRIME = 0x9E37_79B9_7F4A_7C15L;
    private static final int SHIFT = 29;

    private final long[] times = new long[KEPT];
    private final String[] who = new String[KEPT];
    private final String[] what = new String[KEPT];
    private final long[] numbers = new long[KEPT];
    private long steps;
    private long hash = PRIME;

    /**
     * A step.
     *
     * @param nowNs when
     * @param actor who
     * @param action what it did, a constant
     * @param number bytes, or what else the action counts
     */
    public void step(long nowNs, String actor, String action, long number) {
        int slot = (int) (steps % KEPT);
        times[slot] = nowNs;
        who[slot] = actor;
        what[slot] = action;
        numbers[slot] = number;
        steps++;
        mix(nowNs);
        mix(actor.hashCode());
        mix(action.hashCode());
        mix(number);
    }

    /** Contents that belong to the last step: a checksum of bytes on their way or of memory. */
    public void mix(long value) {
        hash = (hash ^ value) * PRIME;
        hash ^= hash >>> SHIFT;
    }

    /** The hash of all steps so far. */
    public long hash() {
        return hash;
    }

    /** Number of steps so far. */
    public long steps() {
        return steps;
    }

    /** The last steps in words, oldest first. */
    public List<String> last() {
        List<String> lines = new ArrayList<>();
        for (long i = Math.max(0, steps - KEPT); i < steps; i++) {
            int slot = (int) (i % KEPT);
            lines.add("%8d %14d ns  %-24s %s %d".formatted(i, times[slot], who[slot], what[slot], numbers[slot]));
        }
        return lines;
    }
}
