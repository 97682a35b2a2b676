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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.MembershipEvents;
import org.softrdma.farm.membership.MembershipWrite;
import org.softrdma.farm.membership.NextConfiguration;
import org.softrdma.farm.membership.Wishes;

/** One machine loses its way to ZooKeeper for less than a session, another one does not. */
class CutOffTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final ClusterSettings SETTINGS = new ClusterSettings(2, 2, 1 << 18, 1 << 12, 22_500);

    @TempDir
    private Path directory;

    private LocalZooKeeper server;
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
        private Wishes wishes = Wishes.NONE;
        private boolean isOver;

        Told(String servers) {
            membership = ZooKeeperMembership.join(servers, "cut", SETTINGS, TIMEOUT_NS);
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
        public void onWishes(Wishes newWishes) {
            wishes = newWishes;
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

    @BeforeEach
    void start() throws IOException {
        server = LocalZooKeeper.start(directory, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        String address = server.servers();
        int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
        proxy = new CutProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        one = new Told(proxy.servers());
        other = new Told(server.servers());
        MembershipWrite first = new MembershipWrite.Configure(
                0, 0, new FarmConfiguration(1, 0, 1, 0, new TreeSet<>(List.of(0, 1)), new TreeMap<>()));
        other.membership.write(first);
        until(() -> other.applied.contains(first) && one.configuration.epoch() == 1);
    }

    @AfterEach
    void stop() throws IOException {
        proxy.mend();
        one.membership.close();
        other.membership.close();
        proxy.close();
        server.close();
    }

    private void until(BooleanSupplier condition) {
        long beganNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - beganNs < TIMEOUT_NS, "it has not come to that");
            int ignored = one.membership.poll(one);
            int _ = other.membership.poll(other);
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /** ZooKeeper tells no watch what happened meanwhile. */
    @Test
    void shouldTellWhatHasChangedWhileTheWayWasCut() throws IOException {
        proxy.cut();
        Wishes wishes = new Wishes(Set.of(), Set.of(1), true);
        MembershipWrite wish = new MembershipWrite.Wish(1, wishes);
        other.membership.write(wish);
        until(() -> other.applied.contains(wish));
        proxy.mend();

        until(() -> one.wishes.equals(wishes));
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
}
