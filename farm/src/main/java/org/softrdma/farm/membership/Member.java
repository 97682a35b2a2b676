package org.softrdma.farm.membership;

import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One machine's part in epochs and leases.
 *
 * <ol>
 *   <li>It <b>learns</b> a configuration: from then on it takes nothing of older epochs. When it has closed its
 *       connections to those that were removed, and given up what it began, it acknowledges.
 *   <li>The <b>holder</b>, the lowest member that is alive, activates the epoch when all members have acknowledged, and
 *       one lease after the configuration was written: then no removed machine trusts what it READs any more. Who believes
 *       to be the holder is of no importance to safety, as every write is conditional.
 *   <li>In an active epoch a member <b>runs</b>. A READ counts while it runs and its lease holds.
 *   <li>A member that was removed, or whose session has ended, is <b>fenced</b> for ever.
 * </ol>
 *
 * <p>The node's thread.
 */
public final class Member implements MembershipEvents {
    private static final long NEVER = Long.MIN_VALUE;

    private final FarmMembership membership;
    private final MembershipSettings settings;
    private final Lease lease;
    private FarmConfiguration configuration = FarmConfiguration.NONE;
    private int active;
    private int acknowledged;
    private boolean isMember;
    private boolean fenced;
    private Set<Integer> alive = Set.of();
    private Set<Integer> acknowledgers = Set.of();
    private int acknowledgersOf;
    private Set<NextConfiguration.Whole> whole = Set.of();
    private PlacementPolicy policy = PlacementPolicy.NONE;
    private Set<Integer> withoutMemory = Set.of();
    /** The placement policy, with machines without memory as drained ones. */
    private PlacementPolicy placing = PlacementPolicy.NONE;

    /** The epoch whose configuration was certainly written at a time. */
    private int writtenEpoch;

    private long writtenNs;
    private boolean changed;
    private long renewedNs = NEVER;
    private @Nullable MembershipWrite holding;
    private @Nullable MembershipWrite policyWrite;
    /** Since when copies that are whole wait for others. */
    private long promotesNs = NEVER;

    /**
     * A machine that is no member yet.
     *
     * @param membership its session
     * @param settings the same as everybody's
     */
    public Member(FarmMembership membership, MembershipSettings settings) {
        this.membership = membership;
        this.settings = settings;
        lease = new Lease(settings.leaseNs());
    }

    /** Number of this machine. */
    public int machine() {
        return membership.machine();
    }

    /** What it was made with. */
    public MembershipSettings settings() {
        return settings;
    }

    /** The newest configuration that it has learnt, which may have it or not yet. */
    public FarmConfiguration configuration() {
        return configuration;
    }

    /** The epoch that it has learnt: it takes messages of this one only. */
    public int epoch() {
        return configuration.epoch();
    }

    /** True while it may begin something: its epoch is active, and it is a member. */
    public boolean isRunning() {
        return !fenced && isMember() && active == configuration.epoch() && acknowledged == active;
    }

    /** True if the configuration that it has learnt has it. */
    public boolean isMember() {
        return isMember;
    }

    /** True once it is no member any more. */
    public boolean isFenced() {
        return fenced;
    }

    /**
     * True if a READ counts.
     *
     * @param epochOfRead in which it was posted
     * @param clockNs by this machine's clock, read after its completion was polled
     */
    public boolean counts(int epochOfRead, long clockNs) {
        return isRunning() && epochOfRead == active && lease.holds(clockNs);
    }

    /** The placement policy. */
    public PlacementPolicy policy() {
        return policy;
    }

    /** Machines that shall have no regions: those that are drained, and those that offer no memory. */
    public Set<Integer> drained() {
        return placing.drained();
    }

    /** Sets the placement policy, instead of the one before: to be called until {@link #policy} says so. */
    public void setPolicy(PlacementPolicy newPolicy) {
        if (policyWrite == null && !policy.equals(newPolicy)) {
            policyWrite = new MembershipWrite.SetPolicy(configuration.epoch(), newPolicy);
            membership.write(policyWrite);
        }
    }

    /** Adds a region, if the configuration is still the same; its answer is a new configuration, or nothing. */
    public void place(int region, RegionPlacement placement) {
        membership.write(new MembershipWrite.Place(configuration.epoch(), configuration.revision(), region, placement));
    }

    /** This machine's copy of a region is whole. */
    public void whole(int region) {
        membership.write(new MembershipWrite.Whole(configuration.epoch(), region));
    }

    /** This machine takes nothing of older epochs any more. */
    public void acknowledge() {
        if (isMember() && acknowledged < configuration.epoch()) {
            acknowledged = configuration.epoch();
            membership.write(new MembershipWrite.Acknowledge(acknowledged));
        }
    }

    /**
     * Takes what has come, renews the lease, and does the holder's work.
     *
     * @param clockNs by this machine's clock
     * @return how much has come
     */
    public int doWork(long clockNs) {
        if (writtenEpoch != configuration.epoch()) {
            writtenEpoch = configuration.epoch(); // learnt before the clock was read, so written before
            writtenNs = clockNs;
        }
        int work = membership.poll(this);
        if (fenced) {
            return work;
        }
        if (isMember() && (renewedNs == NEVER || clockNs - renewedNs >= settings.renewalNs())) {
            renewedNs = clockNs;
            membership.write(new MembershipWrite.Renew(configuration.epoch(), clockNs));
        }
        if (holding == null && (changed || active < configuration.epoch() || isLate(clockNs)) && isHolder()) {
            hold(clockNs);
        }
        return work;
    }

    // ---- the holder

    private boolean isHolder() {
        Set<Integer> candidates = configuration.members();
        return alive.stream()
                        .filter(machine -> candidates.isEmpty() || candidates.contains(machine))
                        .min(Integer::compare)
                        .orElse(RegionPlacement.LOST)
                == machine();
    }

    private void hold(long clockNs) {
        changed = false;
        boolean first = configuration.epoch() == 0;
        FarmConfiguration next = NextConfiguration.of(configuration, alive, whole, placing, settings.replication());
        if (first ? alive.size() >= settings.machines() : differs(next) && !waits(next, clockNs)) {
            holding = new MembershipWrite.Configure(configuration.epoch(), configuration.revision(), next);
        } else if (active < configuration.epoch()
                && acknowledgersOf == configuration.epoch()
                && acknowledgers.containsAll(configuration.members())
                && areLeasesOver(clockNs)) {
            holding = new MembershipWrite.Activate(configuration.epoch());
        }
        if (holding != null) {
            membership.write(holding);
        }
    }

    /** Those of machines that are members no more: of an epoch that has been active they were waited for. */
    private boolean areLeasesOver(long clockNs) {
        return configuration.removal() <= active
                || (writtenEpoch == configuration.epoch() && clockNs - writtenNs >= settings.leaseEndNs());
    }

    /** An epoch for each copy would interrupt all transactions, and all other copies, again and again. */
    private boolean waits(FarmConfiguration next, long clockNs) {
        boolean others = next.regions().values().stream()
                .anyMatch(placement -> !placement.copies().isEmpty());
        boolean onlyCopies =
                !differs(NextConfiguration.of(configuration, alive, Set.of(), placing, settings.replication()));
        if (!others || !onlyCopies) {
            return false;
        }
        promotesNs = promotesNs == NEVER ? clockNs : promotesNs;
        return !isLate(clockNs);
    }

    private boolean isLate(long clockNs) {
        return promotesNs != NEVER && clockNs - promotesNs >= settings.copiesNs();
    }

    private boolean differs(FarmConfiguration next) {
        return !next.members().equals(configuration.members())
                || !next.regions().equals(configuration.regions());
    }

    // ---- what is told

    @Override
    public void onConfiguration(FarmConfiguration told) {
        if (!told.isAfter(configuration)) {
            return;
        }
        if (told.epoch() > configuration.epoch()) {
            if (!told.admits(machine())) {
                fence();
                return;
            }
            renewedNs = NEVER;
            promotesNs = NEVER;
        }
        configuration = told;
        isMember = told.members().contains(machine());
        changed = true;
    }

    @Override
    public void onActive(int epoch) {
        active = Math.max(active, epoch);
    }

    @Override
    public void onAlive(Set<Integer> machines) {
        alive = Set.copyOf(machines);
        changed = true;
    }

    @Override
    public void onAcknowledged(int epoch, Set<Integer> machines) {
        acknowledgersOf = epoch;
        acknowledgers = Set.copyOf(machines);
    }

    @Override
    public void onWhole(Set<NextConfiguration.Whole> copies) {
        whole = Set.copyOf(copies);
        changed = true;
    }

    @Override
    public void onPolicy(PlacementPolicy newPolicy) {
        policy = newPolicy;
        place();
    }

    @Override
    public void onWithoutMemory(Set<Integer> machines) {
        withoutMemory = Set.copyOf(machines);
        place();
    }

    private void place() {
        Set<Integer> none = new TreeSet<>(policy.drained());
        none.addAll(withoutMemory);
        PlacementPolicy now = new PlacementPolicy(policy.removed(), none, policy.balanced());
        changed |= !placing.equals(now);
        placing = now;
    }

    @Override
    public void onAnswer(MembershipWrite write, boolean applied) {
        if (write == holding) {
            holding = null;
            changed = true;
        }
        if (write == policyWrite) {
            policyWrite = null;
        }
        if (write instanceof MembershipWrite.Renew renew && applied) {
            lease.renewed(renew.sentNs());
        }
    }

    @Override
    public void onSessionEnd() {
        fence();
    }

    private void fence() {
        fenced = true;
        lease.end();
    }
}
