package org.softrdma.farm.membership;

import java.util.Set;

/** Takes what a machine learns. What is told may be late, and steps in between may be left out. */
public interface MembershipEvents {
    /** There is a newer configuration. */
    void onConfiguration(FarmConfiguration configuration);

    /** An epoch has begun. */
    void onActive(int epoch);

    /** Which machines are alive. */
    void onAlive(Set<Integer> machines);

    /** Which machines that are alive offer no memory. */
    void onWithoutMemory(Set<Integer> machines);

    /** Which members have acknowledged an epoch. */
    void onAcknowledged(int epoch, Set<Integer> machines);

    /** Which copies are whole. */
    void onWhole(Set<NextConfiguration.Whole> copies);

    /** The placement policy. */
    void onPolicy(PlacementPolicy policy);

    /**
     * The answer to a write.
     *
     * @param write which
     * @param applied false if it was refused; it may be applied although no answer ever comes
     */
    void onAnswer(MembershipWrite write, boolean applied);

    /** The machine is not alive to the others any more, and never will be. */
    void onSessionEnd();
}
