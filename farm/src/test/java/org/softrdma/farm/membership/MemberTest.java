package org.softrdma.farm.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A member's steps, one by one: times are arguments, and what it writes is looked at. */
class MemberTest {
    private static final MembershipSettings SETTINGS = new MembershipSettings(1000, 10, 3, 1, new Rings(1));

    private final List<MembershipWrite> written = new ArrayList<>();
    private final Member member = new Member(new Session(), SETTINGS);

    private final class Session implements FarmMembership {
        @Override
        public int machine() {
            return 0;
        }

        @Override
        public void announce(InetSocketAddress address, boolean memory) {
            // nobody asks
        }

        @Override
        public @Nullable InetSocketAddress address(int machine) {
            return null;
        }

        @Override
        public void write(MembershipWrite write) {
            written.add(write);
        }

        @Override
        public int poll(MembershipEvents events) {
            return 0;
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    private static FarmConfiguration configuration(int epoch, Integer... members) {
        return new FarmConfiguration(epoch, 0, 9, epoch, new TreeSet<>(Set.of(members)), new TreeMap<>(Map.of()));
    }

    private void at(long nowNs) {
        int ignored = member.doWork(nowNs);
    }

    private <T extends MembershipWrite> List<T> written(Class<T> type) {
        return written.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** A member of an active epoch with a renewal that was sent at a time. */
    private void join(long sentNs) {
        member.onConfiguration(configuration(1, 0, 1, 2));
        member.acknowledge();
        member.onActive(1);
        at(sentNs);
        member.onAnswer(written(MembershipWrite.Renew.class).getLast(), true);
    }

    @Test
    void shouldCountItsLeaseFromTheSendingOfTheRenewal() {
        join(100);

        assertTrue(member.counts(1, 1099));
        assertFalse(member.counts(1, 1100));
    }

    @Test
    void shouldCountFromTheRenewalThatIsAnsweredAndNotFromALaterOne() {
        join(100);
        at(400);
        MembershipWrite.Renew early = written(MembershipWrite.Renew.class).getLast();
        at(900);
        member.onAnswer(early, true);

        assertTrue(member.counts(1, 1399));
        assertFalse(member.counts(1, 1400));
    }

    @Test
    void shouldNotTakeARefusalForARenewal() {
        join(100);
        at(400);
        member.onAnswer(written(MembershipWrite.Renew.class).getLast(), false);

        assertFalse(member.counts(1, 1100));
    }

    @Test
    void shouldCountNothingOnceItHasLearntTheNextEpoch() {
        join(100);
        member.onConfiguration(configuration(2, 0, 1));

        assertFalse(member.isRunning());
        assertFalse(member.counts(1, 200));
        member.acknowledge();
        assertEquals(2, written(MembershipWrite.Acknowledge.class).getLast().epoch());
        assertFalse(member.counts(2, 200));
        member.onActive(2);
        assertTrue(member.counts(2, 200));
        assertFalse(member.counts(1, 200));
    }

    @Test
    void shouldBeFencedForEverWhenItIsRemovedOrItsSessionEnds() {
        join(100);
        member.onConfiguration(configuration(2, 1, 2));
        assertTrue(member.isFenced());
        assertFalse(member.counts(1, 200));
        member.onConfiguration(configuration(3, 0, 1, 2));
        assertTrue(member.isFenced());

        Member other = new Member(new Session(), SETTINGS);
        other.onSessionEnd();
        assertTrue(other.isFenced());
    }

    @Test
    void shouldActivateWhenAllHaveAcknowledgedAndALeaseIsOver() {
        member.onAlive(Set.of(0, 1));
        member.onConfiguration(configuration(5, 0, 1));
        at(5000); // learnt before: written before
        member.onAcknowledged(5, Set.of(0));
        at(7000);
        assertEquals(List.of(), written(MembershipWrite.Activate.class));
        member.onAcknowledged(5, Set.of(0, 1));
        at(7000);
        assertEquals(1, written(MembershipWrite.Activate.class).size());
    }

    @Test
    void shouldWaitALeaseAndTheDriftFromWhenItReadItsClockAfterLearning() {
        member.onAlive(Set.of(0, 1));
        member.onConfiguration(configuration(5, 0, 1));
        member.onAcknowledged(5, Set.of(0, 1));
        at(5000);
        at(6009);
        assertEquals(List.of(), written(MembershipWrite.Activate.class));
        at(6010);
        assertEquals(1, written(MembershipWrite.Activate.class).size());
    }

    /** Nobody was removed: members take no READ of an older epoch once they have acknowledged this one. */
    @Test
    void shouldWaitForNoLeaseWhenAllMembersStay() {
        member.onAlive(Set.of(0, 1));
        member.onActive(4);
        member.onConfiguration(removing(4, 5, 0, 1));
        at(5000);
        assertEquals(List.of(), written(MembershipWrite.Activate.class));
        member.onAcknowledged(5, Set.of(0, 1));
        at(5001);
        assertEquals(1, written(MembershipWrite.Activate.class).size());
    }

    /** Epoch 4 has removed somebody, and was never active. */
    @Test
    void shouldWaitForTheLeasesOfWhomAnEpochHasRemovedThatWasNeverActive() {
        member.onAlive(Set.of(0, 1));
        member.onActive(3);
        member.onConfiguration(removing(4, 5, 0, 1));
        member.onAcknowledged(5, Set.of(0, 1));
        at(5000);
        at(6009);
        assertEquals(List.of(), written(MembershipWrite.Activate.class));
        at(6010);
        assertEquals(1, written(MembershipWrite.Activate.class).size());
    }

    private static FarmConfiguration removing(int removal, int epoch, Integer... members) {
        return new FarmConfiguration(epoch, 0, 9, removal, new TreeSet<>(Set.of(members)), new TreeMap<>(Map.of()));
    }

    /** Two copies of three machines: an epoch for both, unless the second one takes very long. */
    @Test
    void shouldPromoteCopiesTogether() {
        RegionPlacement placement = new RegionPlacement(0, List.of(), List.of(1));
        RegionPlacement other = new RegionPlacement(0, List.of(), List.of(2));
        FarmConfiguration current = new FarmConfiguration(
                5, 0, 9, 5, new TreeSet<>(Set.of(0, 1, 2)), new TreeMap<>(Map.of(7, placement, 8, other)));
        Member two = new Member(new Session(), new MembershipSettings(1000, 10, 3, 2, new Rings(1)));
        two.onAlive(Set.of(0, 1, 2));
        two.onActive(5);
        two.onConfiguration(current);
        NextConfiguration.Whole first = new NextConfiguration.Whole(5, 7, 1);
        two.onWhole(Set.of(first));
        int ignored = two.doWork(100);
        ignored += two.doWork(20_099);
        assertEquals(List.of(), written(MembershipWrite.Configure.class));
        ignored += two.doWork(20_100);
        assertEquals(1, written(MembershipWrite.Configure.class).size());

        Member quick = new Member(new Session(), new MembershipSettings(1000, 10, 3, 2, new Rings(1)));
        quick.onAlive(Set.of(0, 1, 2));
        quick.onActive(5);
        quick.onConfiguration(current);
        quick.onWhole(Set.of(first));
        ignored += quick.doWork(100);
        quick.onWhole(Set.of(first, new NextConfiguration.Whole(5, 8, 2)));
        ignored += quick.doWork(101);
        assertEquals(0, ignored);
        assertEquals(2, written(MembershipWrite.Configure.class).size());
    }

    @Test
    void shouldNotActivateByAcknowledgementsOfAnotherEpoch() {
        member.onAlive(Set.of(0, 1));
        member.onAcknowledged(4, Set.of(0, 1));
        member.onConfiguration(configuration(5, 0, 1));
        at(5000);
        at(9000);

        assertEquals(List.of(), written(MembershipWrite.Activate.class));
    }

    @Test
    void shouldComposeFromTheConfigurationThatItCompares() {
        at(1);
        member.onAlive(Set.of(0, 1));
        at(2);
        assertEquals(List.of(), written(MembershipWrite.Configure.class)); // three make the first
        member.onAlive(Set.of(0, 1, 2));
        at(3);
        MembershipWrite.Configure first =
                written(MembershipWrite.Configure.class).getLast();
        assertEquals(0, first.epoch());
        assertEquals(1, first.next().epoch());
        at(4);
        assertEquals(1, written(MembershipWrite.Configure.class).size()); // one at a time
        member.onConfiguration(first.next());
        member.onAnswer(first, true);
        member.onAlive(Set.of(0, 2));
        at(5);
        MembershipWrite.Configure second =
                written(MembershipWrite.Configure.class).getLast();
        assertEquals(1, second.epoch());
        assertEquals(Set.of(0, 2), second.next().members());
        assertEquals(0, second.revision());
        member.onAnswer(second, false); // a region was made meanwhile
        member.onConfiguration(first.next().with(7, new RegionPlacement(0, List.of(), List.of())));
        at(6);
        MembershipWrite.Configure third =
                written(MembershipWrite.Configure.class).getLast();
        assertEquals(1, third.revision());
        assertEquals(Set.of(7), third.next().regions().keySet());
    }

    /** It is a member like any other, but the region goes to the machine behind it on the ring. */
    @Test
    void shouldPutNothingOnAMachineWithoutMemory() {
        Member holder = new Member(new Session(), new MembershipSettings(1000, 10, 3, 2, new Rings(1)));
        List<Integer> order = Rings.order(7, new TreeSet<>(Set.of(2, 3)));
        holder.onWithoutMemory(Set.of(order.getFirst()));
        holder.onAlive(Set.of(0, 2, 3));
        holder.onConfiguration(configuration(1, 0, 1, 2, 3).with(7, new RegionPlacement(0, List.of(1), List.of())));
        int ignored = holder.doWork(1);

        FarmConfiguration next =
                written(MembershipWrite.Configure.class).getLast().next();
        assertEquals(Set.of(0, 2, 3), next.members());
        assertEquals(
                new RegionPlacement(0, List.of(), List.of(order.getLast())),
                next.regions().get(7));
    }

    @Test
    void shouldLeaveTheWorkOfTheHolderToTheLowestThatIsAlive() {
        Member other = new Member(new Session(), SETTINGS);
        other.onAlive(Set.of(0, 1, 2));
        member.onConfiguration(configuration(1, 1, 2));
        member.onAlive(Set.of(0, 1));
        at(1);

        assertEquals(List.of(), written(MembershipWrite.Configure.class)); // it is no member
    }
}
