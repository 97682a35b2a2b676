package org.softrdma.sim.memory;

/**
 * How soon a number that names something comes again once that is gone: a key of a region, a number of a queue pair.
 */
public enum NumberReuse {
    /** As late as there is room for, so that who uses an old one is refused. */
    LATE,
    /** At once, the last one first. */
    AT_ONCE
}
