package org.softrdma.fabric.fault;

import java.util.function.IntPredicate;

/** A fault of a plan, and how often it may still happen. One thread at a time. */
public final class ArmedFault {
    private final Fault fault;
    private int left;
    private int toSkip;

    /** One that has not happened yet. */
    public ArmedFault(Fault fault) {
        this.fault = fault;
        left = fault.times();
        toSkip = fault.skipped();
    }

    /** The fault. */
    public Fault fault() {
        return fault;
    }

    /** How often it may still happen. */
    public int left() {
        return left;
    }

    /** It does not happen any more. */
    public void end() {
        left = 0;
    }

    /**
     * True if it happens at this occasion, which counts.
     *
     * @param chance true as often as the given number of thousandths says
     */
    public boolean occurs(IntPredicate chance) {
        if (left <= 0) {
            return false;
        }
        if (toSkip > 0) {
            toSkip--;
            return false;
        }
        if (!chance.test(fault.perMille())) {
            return false;
        }
        left--;
        return true;
    }
}
