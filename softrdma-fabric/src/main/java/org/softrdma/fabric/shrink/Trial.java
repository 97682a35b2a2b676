package org.softrdma.fabric.shrink;

import org.softrdma.fabric.fault.FaultPlan;

/** Does a run again, by the same seed, with another plan and another number of steps. */
@FunctionalInterface
public interface Trial {
    /**
     * Runs.
     *
     * @param plan what goes wrong
     * @param steps how much of its work the run does, at most: requests, operations of a walk, rounds
     * @return true if the run fails in the way that is looked for
     */
    boolean fails(FaultPlan plan, long steps);
}
