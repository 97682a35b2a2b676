package org.softrdma.farm.membership;

/**
 * A conditional write: it takes effect only if the configuration is the one that its writer knows. What must hold together
 * is one write, so that two holders at a time do no harm.
 */
public sealed interface MembershipWrite {
    /** The epoch that the configuration must have. */
    int epoch();

    /**
     * Extends this machine's lease, if the epoch is still the same.
     *
     * @param epoch that it has learnt
     * @param sentNs when it is sent, by the clock of this machine
     */
    record Renew(int epoch, long sentNs) implements MembershipWrite {}

    /**
     * Replaces the configuration that has this epoch and revision.
     *
     * @param epoch of the configuration that the next one was composed from
     * @param revision of that configuration
     * @param next the new one
     */
    record Configure(int epoch, int revision, FarmConfiguration next) implements MembershipWrite {}

    /**
     * Says that this machine takes nothing of older epochs any more.
     *
     * @param epoch that it has learnt
     */
    record Acknowledge(int epoch) implements MembershipWrite {}

    /**
     * Lets an epoch begin.
     *
     * @param epoch which
     */
    record Activate(int epoch) implements MembershipWrite {}

    /**
     * Adds a region.
     *
     * @param epoch of the configuration
     * @param revision of the configuration
     * @param region its number
     * @param placement who has it
     */
    record Place(int epoch, int revision, int region, RegionPlacement placement) implements MembershipWrite {}

    /**
     * Says that this machine's copy of a region is whole.
     *
     * @param epoch of the configuration
     * @param region which
     */
    record Whole(int epoch, int region) implements MembershipWrite {}

    /**
     * Sets the policy that whoever composes a configuration follows, instead of the one before.
     *
     * @param epoch of the configuration
     * @param policy which whoever composes a configuration follows
     */
    record SetPolicy(int epoch, PlacementPolicy policy) implements MembershipWrite {}
}
