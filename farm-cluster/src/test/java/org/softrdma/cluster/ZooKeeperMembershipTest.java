package org.softrdma.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.farm.membership.FarmMembership;
import org.softrdma.farm.membership.MembershipContract;
import org.softrdma.farm.membership.PlacementPolicy;

/** The membership by ZooKeeper, with a real server: each rule has a cluster of its own. */
class ZooKeeperMembershipTest extends MembershipContract {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    /** Sessions of half a minute, for machines that are busy. */
    private static final ClusterSettings PATIENT = new ClusterSettings(3, 3, 1 << 20, 1 << 12, 22_500);

    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    @TempDir
    private static Path directory;

    private static LocalZooKeeper server;
    private static int clusters;

    private final List<ZooKeeper> intruders = new ArrayList<>();

    @BeforeAll
    static void start() {
        server = LocalZooKeeper.start(directory, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static ZooKeeperMembership join(String name) {
        return ZooKeeperMembership.join(server.servers(), name, PATIENT, TIMEOUT_NS);
    }

    @Override
    protected void run(Body body) {
        String name = "c" + clusters++;
        body.run(new Ensemble() {
            @Override
            public FarmMembership join() {
                return ZooKeeperMembershipTest.join(name);
            }

            @Override
            public void expel(FarmMembership membership) {
                endSession(((ZooKeeperMembership) membership).client());
            }

            @Override
            public void until(BooleanSupplier condition) {
                ZooKeeperMembershipTest.until(condition);
            }
        });
    }

    private static void until(BooleanSupplier condition) {
        long beganNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - beganNs < PATIENCE_NS, "it has not come to that");
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /** Whoever knows a session's password may end it. */
    private void endSession(ZooKeeper session) {
        try {
            ZooKeeper same = new ZooKeeper(
                    server.servers(), 5000, event -> {}, session.getSessionId(), session.getSessionPasswd());
            intruders.add(same);
            until(() -> same.getState().isConnected());
            assertTrue(same.close(5000));
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldKeepTheSettingsOfTheFirstMachine() {
        ClusterSettings first = new ClusterSettings(5, 2, 1 << 20, 1 << 12, 900);
        try (ZooKeeperMembership one = ZooKeeperMembership.join(server.servers(), "settings", first, TIMEOUT_NS);
                ZooKeeperMembership other = join("settings")) {
            assertEquals(first, one.settings());
            assertEquals(first, other.settings());
            assertEquals(one.cluster(), other.cluster());
            assertEquals(first.sessionMs(), one.sessionMs());
            assertEquals(first.sessionMs(), other.sessionMs());
        }
    }

    @Test
    void shouldGiveClustersNumbersOfTheirOwn() {
        try (ZooKeeperMembership one = join("one");
                ZooKeeperMembership other = join("other")) {
            assertTrue(one.cluster() != other.cluster());
        }
    }

    @Test
    void shouldSayWhereItLooksWhenThereIsNoZooKeeper() {
        ClusterException failure = assertThrows(
                ClusterException.class,
                () -> ZooKeeperMembership.join(
                        "127.0.0.1:1", "shop", ClusterSettings.DEFAULT, TimeUnit.MILLISECONDS.toNanos(100)));
        assertTrue(
                String.valueOf(failure.getMessage()).startsWith("no ZooKeeper answers at 127.0.0.1:1"),
                failure.getMessage());
    }

    @Test
    void shouldRefuseANameThatIsAPath() {
        for (String name : List.of("", "a/b", "..", "a b")) {
            ClusterException failure = assertThrows(ClusterException.class, () -> join(name));
            assertTrue(String.valueOf(failure.getMessage()).contains("expected 1 to 64 letters"), failure.getMessage());
        }
    }

    /** The nodes of a machine go with its session, so that ZooKeeper does not fill up. */
    @Test
    void shouldLeaveNothingBehindOfAMachineThatIsGone() throws KeeperException, InterruptedException {
        try (ZooKeeperMembership stays = join("traces")) {
            ZooKeeperMembership goes = join("traces");
            goes.announce(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7000), true);
            goes.close();
            for (String part : List.of("machines", "alive", "leases", "acks", "whole")) {
                List<String> names = stays.client().getChildren("/farm/traces/" + part, false);
                assertTrue(names.stream().noneMatch(name -> name.endsWith(String.valueOf(goes.machine()))), part);
            }
        }
    }

    /** Machines of other versions, or people, may write anything. */
    @Test
    void shouldSayWhatIsWrongWithANodeThatItCannotRead() {
        for (ClusterTextsCase it : List.of(
                new ClusterTextsCase(() -> ClusterTexts.announced(bytes("port=1")), "host"),
                new ClusterTextsCase(() -> ClusterTexts.policy(bytes("all")), "drained"),
                new ClusterTextsCase(() -> ClusterSettings.decode(new byte[0]), "replicas"))) {
            ClusterException failure = assertThrows(ClusterException.class, it.reads()::run);
            assertTrue(String.valueOf(failure.getMessage()).contains(it.expected()), failure.getMessage());
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private record ClusterTextsCase(Runnable reads, String expected) {}

    @Test
    void shouldReadWhatItWrites() {
        PlacementPolicy policy = new PlacementPolicy(Set.of(3, 70), Set.of(1), true);
        assertEquals(policy, ClusterTexts.policy(ClusterTexts.policy(policy)));
        assertEquals(PlacementPolicy.NONE, ClusterTexts.policy(ClusterTexts.policy(PlacementPolicy.NONE)));
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7483);
        assertEquals(
                new ClusterView.Machine(address, false),
                ClusterTexts.announced(ClusterTexts.announced(address, false)));
    }
}
