package org.softrdma.net.transport;

import java.util.function.BooleanSupplier;

/**
 * How threads wait where something other than the JVM decides who runs next: a simulation, in which one thread runs at a time. Any
 * thread that the simulation knows.
 */
public interface Waits {
    /**
     * Lets others run until a condition holds, the time is over, or the calling thread is interrupted.
     *
     * @param condition evaluated between the steps of others, on their threads; it has no effects
     * @param timeoutNs how long at most, by the clock of the loop; {@link Long#MAX_VALUE} for ever
     * @return whether the condition holds
     */
    boolean until(BooleanSupplier condition, long timeoutNs);

    /** Lets others run, because the caller polls for something that only they can do. */
    void idle();
}
