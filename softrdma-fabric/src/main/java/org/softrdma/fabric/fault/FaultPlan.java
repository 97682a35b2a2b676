package org.softrdma.fabric.fault;

import java.util.ArrayList;
import java.util.List;

/**
 * Faults of a run. Immutable.
 *
 * @param faults in no order
 */
public record FaultPlan(List<Fault> faults) {
    /** Nothing goes wrong. */
    public static final FaultPlan NONE = new FaultPlan(List.of());

    /** Copies. */
    public FaultPlan {
        faults = List.copyOf(faults);
    }

    /**
     * This plan and something that goes wrong at the first occasion.
     *
     * @param when it happens
     * @param what happens
     */
    public FaultPlan and(When when, What what) {
        return and(new Fault(when, what));
    }

    /** This plan and a fault. */
    public FaultPlan and(Fault fault) {
        List<Fault> all = new ArrayList<>(faults);
        all.add(fault);
        return new FaultPlan(all);
    }

    /** This plan without one of its faults. */
    public FaultPlan without(int index) {
        List<Fault> all = new ArrayList<>(faults);
        all.remove(index);
        return new FaultPlan(all);
    }
}
