package org.softrdma.testkit.walk;

/**
 * What a walk is about. Immutable.
 *
 * @param seed decides every operation
 * @param operations how many to do
 * @param nodes how many devices there are, 2 to 8
 * @param lawful true to do only what a correct program does; else requests also break rules, and must fail as verbs say
 */
public record WalkSettings(long seed, int operations, int nodes, boolean lawful) {
    /** Most nodes of a walk. */
    public static final int MOST_NODES = 8;

    /** Checks. */
    public WalkSettings {
        if (operations < 1) {
            throw new IllegalArgumentException("operations=" + operations + ": expected at least 1");
        }
        if (nodes < 2 || nodes > MOST_NODES) {
            throw new IllegalArgumentException("nodes=" + nodes + ": expected 2 to " + MOST_NODES);
        }
    }
}
