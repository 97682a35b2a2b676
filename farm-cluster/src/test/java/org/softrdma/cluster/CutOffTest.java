package org.softrdma.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.MembershipEvents;
import org.softrdma.farm.membership.MembershipWrite;
import org.softrdma.farm.membership.NextConfiguration;
import org.softrdma.farm.membership.PlacementPolicy;

/** One machine loses its way to ZooKeeper, or ZooKeeper is away, and another machine sees what becomes of it. */
class CutOffTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final ClusterSettings SETTINGS = new ClusterSettings(2, 2, 1 << 18, 1 << 12, 22_500);
    /** What servers are told of sessions whose clients are told 600 ms: they outlive every test. */
    private static final int SERVER_MS = 60_000;

    private static final ClusterSettings HASTY = new ClusterSettings(2, 2, 1 << 18, 1 << 12, 450);
    private static final int HASTY_MS = 600;

    @TempDir
    private Path directory;

    private final List<Told> machines = new ArrayList<>();
    private final List<CutProxy> ways = new ArrayList<>();
    private LocalZooKeeper server;
    private InetSocketAddress address;
    private CutProxy proxy;
    private Told one;
    private Told other;

    /** What a machine was told. */
    private static final class Told implements MembershipEvents {
        private final ZooKeeperMembership membership;
        private final List<MembershipWrite> applied = new ArrayList<>();
        private final List<MembershipWrite> refused = new ArrayList<>();
        private FarmConfiguration configuration = FarmConfiguration.NONE;
        private Set<Integer> acknowledged = Set.of();
        private PlacementPolicy policy = PlacementPolicy.NONE;
        private boolean isOver;

        Told(CutProxy way, String cluster, ClusterSettings settings) {
            membership = ZooKeeperMembership.join(way.servers(), cluster, settings, TIMEOUT_NS);
        }

        @Override
        public void onConfiguration(FarmConfiguration told) {
            configuration = told;
        }

        @Override
        public void onActive(int epoch) {
            // nobody asks
        }

        @Override
        public void onAlive(Set<Integer> machines) {
            // nobody asks
        }

        @Override
        public void onWithoutMemory(Set<Integer> machines) {
            // nobody asks
        }

        @Override
        public void onAcknowledged(int epoch, Set<Integer> machines) {
            acknowledged = machines;
        }

        @Override
        public void onWhole(Set<NextConfiguration.Whole> copies) {
            // nobody asks
        }

        @Override
        public void onPolicy(PlacementPolicy newPolicy) {
            policy = newPolicy;
        }

        @Override
        public void onAnswer(MembershipWrite write, boolean isApplied) {
            (isApplied ? applied : refused).add(write);
        }

        @Override
        public void onSessionEnd() {
            isOver = true;
        }
    }

    /** Two machines, the first with a way that can be cut, in an epoch. */
    @BeforeEach
    void start() throws IOException {
        server = LocalZooKeeper.start(directory, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        String text = server.servers();
        int port = Integer.parseInt(text.substring(text.lastIndexOf(':') + 1));
        address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        proxy = way(new CutProxy(address));
        one = join(proxy, "cut", SETTINGS);
        other = join(way(new CutProxy(address)), "cut", SETTINGS);
        beginEpoch();
    }

    /** The same, with clients that give up long before their sessions end. */
    private void startHasty() throws IOException {
        proxy = way(new CutProxy(address, HASTY_MS, SERVER_MS));
        one = join(proxy, "hasty", HASTY);
        other = join(way(new CutProxy(address, HASTY_MS, SERVER_MS)), "hasty", HASTY);
        beginEpoch();
    }

    @AfterEach
    void stop() throws IOException {
        proxy.mend();
        machines.forEach(it -> it.membership.close());
        for (CutProxy way : ways) {
            way.close();
        }
        server.close();
    }

    private CutProxy way(CutProxy opened) {
        ways.add(opened);
        return opened;
    }

    private Told join(CutProxy way, String cluster, ClusterSettings settings) {
        Told joined = new Told(way, cluster, settings);
        machines.add(joined);
        return joined;
    }

    private void beginEpoch() {
        MembershipWrite first = new MembershipWrite.Configure(
                0, 0, new FarmConfiguration(1, 0, 1, 0, new TreeSet<>(List.of(0, 1)), new TreeMap<>()));
        other.membership.write(first);
        until(() -> other.applied.contains(first) && one.configuration.epoch() == 1);
    }

    private void until(BooleanSupplier condition) {
        long beganNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - beganNs < TIMEOUT_NS, "it has not come to that");
            for (Told machine : machines) {
                int ignored = machine.membership.poll(machine);
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private PlacementPolicy setBy(Told machine, int drained) {
        PlacementPolicy policy = new PlacementPolicy(Set.of(), Set.of(drained), true);
        MembershipWrite setPolicy = new MembershipWrite.SetPolicy(1, policy);
        machine.membership.write(setPolicy);
        until(() -> machine.applied.contains(setPolicy));
        return policy;
    }

    /** Until the client has given up, and so have clients after it. */
    private void untilClientsHaveGivenUp(int times) {
        for (int i = 0; i < times; i++) {
            ZooKeeper before = one.membership.client();
            until(() -> one.membership.client() != before || one.isOver);
        }
    }

    /** ZooKeeper tells no watch what happened meanwhile. */
    @Test
    void shouldTellWhatHasChangedWhileTheWayWasCut() throws IOException {
        proxy.cut();
        PlacementPolicy policy = setBy(other, 1);
        proxy.mend();

        until(() -> one.policy.equals(policy));
    }

    @Test
    void shouldWriteWhenTheWayIsThereAgain() throws IOException {
        proxy.cut();
        MembershipWrite first = new MembershipWrite.Renew(1, 0);
        MembershipWrite second = new MembershipWrite.Acknowledge(1);
        one.membership.write(first);
        one.membership.write(second);
        proxy.mend();

        until(() -> one.applied.size() == 2);
        assertEquals(List.of(first, second), one.applied);
    }

    /** The write has taken effect, and its machine does not know that: it is sent again, and is no other one's. */
    @Test
    void shouldTakeAWriteForItsOwnWhenOnlyTheAnswerWasLost() throws IOException {
        proxy.loseAnswers();
        MembershipWrite write = new MembershipWrite.Acknowledge(1);
        one.membership.write(write);
        until(() -> other.acknowledged.equals(Set.of(one.membership.machine())));
        assertTrue(one.applied.isEmpty());
        proxy.cut();
        proxy.mend();

        until(() -> one.applied.contains(write) || one.refused.contains(write));
        assertEquals(List.of(), one.refused);
        assertEquals(false, one.isOver);
    }

    /** However long that takes: what waits must not become more. */
    @Test
    void shouldSendOnlyTheLastOfTheRenewalsThatHaveWaited() throws IOException {
        proxy.cut();
        until(() -> !one.membership.client().getState().isConnected());
        List<MembershipWrite> renewals = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            renewals.add(new MembershipWrite.Renew(1, i));
            one.membership.write(renewals.getLast());
        }
        proxy.mend();

        until(() -> one.applied.contains(renewals.getLast()));
        assertEquals(List.of(renewals.getFirst(), renewals.getLast()), one.applied);
        assertEquals(renewals.subList(1, 4), one.refused);
    }

    /** A client that has heard nothing for long says what it says when a server has ended the session. */
    @Test
    void shouldKeepItsSessionAsLongAsNoServerSaysThatItHasEnded() throws IOException {
        startHasty();
        long session = one.membership.client().getSessionId();
        proxy.cut();
        MembershipWrite renewal = new MembershipWrite.Renew(1, 0);
        one.membership.write(renewal);
        PlacementPolicy meanwhile = setBy(other, 1);
        untilClientsHaveGivenUp(2);
        proxy.mend();

        until(() -> one.isOver || (one.applied.contains(renewal) && one.policy.equals(meanwhile)));
        assertEquals(false, one.isOver);
        assertEquals(session, one.membership.client().getSessionId());
        PlacementPolicy later = setBy(other, 0);
        until(() -> one.policy.equals(later));
        assertEquals(List.of(), one.refused);
    }

    @Test
    void shouldEndWhenAServerSaysSoToTheNextClient() throws IOException, InterruptedException {
        startHasty();
        ZooKeeper first = one.membership.client();
        proxy.cut();
        untilClientsHaveGivenUp(1);
        ZooKeeper intruder =
                new ZooKeeper(server.servers(), SERVER_MS, event -> {}, first.getSessionId(), first.getSessionPasswd());
        until(() -> intruder.getState().isConnected());
        assertTrue(intruder.close(5000));
        MembershipWrite renewal = new MembershipWrite.Renew(1, 0);
        one.membership.write(renewal);
        proxy.mend();

        until(() -> one.isOver);
        assertEquals(List.of(renewal), one.refused);
    }

    private static List<String> outages(Told machine) {
        List<String> told = new ArrayList<>();
        machine.membership.outages(new ZooKeeperMembership.OutageEvents() {
            @Override
            public void onOutage(long ms) {
                assertTrue(ms >= HASTY_MS / 3, ms + " ms");
                told.add("away");
            }

            @Override
            public void onEndOfOutage(long ms) {
                told.add("back");
            }
        });
        return told;
    }

    /** However many clients have given up meanwhile. */
    @Test
    void shouldSayOnceThatNoServerIsThereAndOnceThatOneIsAgain() throws IOException {
        startHasty();
        List<String> told = outages(one);
        proxy.cut();
        until(() -> told.size() == 1);
        untilClientsHaveGivenUp(2);
        proxy.mend();
        until(() -> told.size() > 1);
        assertEquals(List.of("away", "back"), told);
    }

    @Test
    void shouldNotSayThatAServerWasMissedForAShortTime() throws IOException {
        List<String> told = outages(one);
        proxy.cut();
        until(() -> !one.membership.client().getState().isConnected());
        PlacementPolicy policy = setBy(other, 1);
        proxy.mend();
        until(() -> one.policy.equals(policy));
        assertEquals(List.of(), told);
    }
}
