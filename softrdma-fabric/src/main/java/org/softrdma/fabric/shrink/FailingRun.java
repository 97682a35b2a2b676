package org.softrdma.fabric.shrink;

import org.softrdma.fabric.fault.FaultPlan;

/**
 * A run that fails.
 *
 * @param seed of the run
 * @param plan what goes wrong in it
 * @param steps how much of its work it does
 */
public record FailingRun(long seed, FaultPlan plan, long steps) {
    /** What it takes to do the run again, as Java. */
    @Override
    public String toString() {
        return "long seed = " + seed + "L;\nlong steps = " + steps + ";\nFaultPlan plan = " + PlanText.java(plan) + ";";
    }
}
