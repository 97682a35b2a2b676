package org.softrdma.testkit.walk;

/**
 * What a walk is about. Immutable.
 *
 * @param seed decides every operation
 * @param operations how many to do
 * @param nodes how many devices there are, 2 to 8
 * @param lawful true to do only what a correct program does; else requests also break rules, and must fail as verbs say
 * @param features true to do also what not every device can, where it can: atomics, WRITEs with immediate, memory windows,
 *     shared receive queues, asynchronous events, reregistration, other sizes of completion queues
 */
public record WalkSettings(long seed, int operations, int nodes, boolean lawful, boolean features) {
    /** Most nodes of a walk. */
    public static final int MOST_NODES = 8;

    /** With what every device can. */
    public WalkSettings(long seed, int operations, int nodes, boolean lawful) {
        this(seed, operations, nodes, lawful, false);
    }

    /** The same and what not every device can. */
    public WalkSettings withFeatures() {
        return new WalkSettings(seed, operations, nodes, lawful, true);
    }

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
