package org.softrdma.farm.membership;

import java.util.concurrent.TimeUnit;

/**
 * How members keep together. All machines have the same. Immutable.
 *
 * @param leaseNs how long a lease lasts from the sending of its renewal
 * @param driftPerMille how much faster one clock may run than another, in thousandths
 * @param machines how many must be alive for the first configuration
 * @param replication machines that shall have each region
 * @param rings of consistent hashing
 */
public record MembershipSettings(long leaseNs, int driftPerMille, int machines, int replication, Rings rings) {
    /** Renewals in the time of a lease. */
    private static final int RENEWALS = 5;

    /** Leases in which all copies should be whole. */
    private static final int COPIES = 20;

    /** Three quarters of a session of two seconds, a drift of one per cent, three machines, one of which has a region. */
    public static final MembershipSettings DEFAULT =
            new MembershipSettings(TimeUnit.MILLISECONDS.toNanos(1500), 10, 3, 1, new Rings(16));

    /** Checks. */
    public MembershipSettings {
        if (leaseNs < RENEWALS || driftPerMille < 0 || machines < 1 || replication < 1) {
            throw new IllegalArgumentException("leaseNs=" + leaseNs + ", driftPerMille=" + driftPerMille + ", machines="
                    + machines + ", replication=" + replication + ": expected at least " + RENEWALS + ", 0, 1, 1");
        }
    }

    /** Time from one renewal to the next. */
    public long renewalNs() {
        return leaseNs / RENEWALS;
    }

    /** How long copies that are whole wait for those that are not, before they become replicas. */
    public long copiesNs() {
        return COPIES * leaseNs;
    }

    /** How long to wait, by any clock, until a lease of any machine that was granted before is over. */
    public long leaseEndNs() {
        return leaseNs + leaseNs / 1000 * driftPerMille;
    }
}
