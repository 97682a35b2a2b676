package org.softrdma.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.agrona.CloseHelper;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.PlacementPolicy;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.node.FarmException;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.FarmNodeContext;
import org.softrdma.farm.node.TransactionOutcome;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Nodes with ZooKeeper and sockets, in one process. */
class ClusterNodeTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final String NAME = "nodes";
    private static final int VALUE = FarmObjectDescriptor.PAYLOAD_OFFSET;
    private static final int LENGTH = VALUE + Long.BYTES;
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    /** Sessions of half a minute, for machines that are busy; nothing here waits for their end. */
    private static final ClusterSettings SETTINGS = new ClusterSettings(2, 2, 1 << 18, 1 << 12, 22_500);

    @TempDir
    private Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();
    private String progress = "manual";
    private LocalZooKeeper server;

    @BeforeEach
    void start() {
        server = LocalZooKeeper.start(directory, ANY);
    }

    @AfterEach
    void stop() {
        CloseHelper.closeAll(open.reversed());
        server.close();
    }

    private <T extends AutoCloseable> T opened(T made) {
        open.add(made);
        return made;
    }

    private ZooKeeperMembership join() {
        return ZooKeeperMembership.join(server.servers(), NAME, SETTINGS, TIMEOUT_NS);
    }

    private VerbsDevice device() {
        return new SoftRdmaProvider().open(Map.of("progress", progress));
    }

    private ClusterNode node(boolean memory) {
        return node(join(), memory);
    }

    private ClusterNode node(ZooKeeperMembership membership, boolean memory) {
        FarmNodeContext context = membership.context(ANY);
        return opened(
                ClusterNode.start(this::device, membership, memory ? context : context.withoutMemory(), () -> {}));
    }

    private static void until(BooleanSupplier condition) {
        long beganNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - beganNs < TIMEOUT_NS, "it has not come to that");
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private static boolean hasRegions(FarmNode node, int count) {
        return node.configuration().regions().size() == count;
    }

    private static long allocate(FarmNode node, int region, long value) {
        TransactionOutcome<Long> outcome = node.transact(10, transaction -> {
            long address = transaction.allocate(LENGTH, FarmAddress.of(region, 0));
            transaction.write(address).putLong(VALUE, value);
            return address;
        });
        return Objects.requireNonNull(((TransactionOutcome.Committed<Long>) outcome).value());
    }

    @ParameterizedTest
    @ValueSource(strings = {"manual", "engine"})
    void shouldCommitOverMachinesAndReadFromOneWithoutMemory(String driven) {
        progress = driven;
        ClusterNode one = node(true);
        ClusterNode other = node(true);
        until(() -> hasRegions(one.node(), 2));
        ClusterNode reader = node(false);
        until(() -> one.node().configuration().members().contains(reader.machine()));
        List<Integer> regions = List.copyOf(one.node().configuration().regions().keySet());
        long from = allocate(reader.node(), regions.get(0), 100);
        long to = allocate(reader.node(), regions.get(1), 0);

        TransactionOutcome<Boolean> outcome = other.node().transact(10, transaction -> {
            transaction.read(from, LENGTH);
            transaction.read(to, LENGTH);
            transaction.write(from).putLong(VALUE, 60);
            transaction.write(to).putLong(VALUE, 40);
            return true;
        });

        assertInstanceOf(TransactionOutcome.Committed.class, outcome);
        assertEquals(60, reader.node().read(from, LENGTH).getLong(VALUE));
        assertEquals(40, reader.node().read(to, LENGTH).getLong(VALUE));
        FarmConfiguration configuration = reader.node().configuration();
        assertTrue(configuration.regions().values().stream()
                .noneMatch(placement -> placement.machines().contains(reader.machine())));
    }

    @Test
    void shouldShowWhoHasWhatAndMoveRegionsAwayWhenThePolicySaysSo() {
        ClusterNode one = node(true);
        ClusterNode other = node(true);
        until(() -> hasRegions(one.node(), 2));
        ClusterNode third = node(true);
        try (ClusterView view = ClusterView.open(server.servers(), NAME, TIMEOUT_NS)) {
            until(() -> view.configuration().members().contains(third.machine()));
            assertEquals(SETTINGS, view.settings());
            assertEquals(
                    Set.of(one.machine(), other.machine(), third.machine()),
                    view.alive().keySet());
            view.changePolicy(policy -> new PlacementPolicy(policy.removed(), Set.of(one.machine()), false));

            until(() -> view.active() == view.configuration().epoch()
                    && view.configuration().regions().values().stream()
                            .noneMatch(placement -> placement.machines().contains(one.machine())));
            assertEquals(Set.of(one.machine()), view.policy().drained());
        }
    }

    /** The servers think of sessions of a minute, the clients of 0.6 s: these give up, and nobody is removed. */
    @Test
    void shouldCommitNothingWhileZooKeeperIsAwayAndGoOnWhenItIsBack() throws Exception {
        String text = server.servers();
        int port = Integer.parseInt(text.substring(text.lastIndexOf(':') + 1));
        CutProxy proxy = opened(new CutProxy(new InetSocketAddress(ANY.getAddress(), port), 600, 60_000));
        ClusterSettings settings = new ClusterSettings(2, 2, 1 << 18, 1 << 12, 450);
        ZooKeeperMembership membership = ZooKeeperMembership.join(proxy.servers(), NAME, settings, TIMEOUT_NS);
        ClusterNode one = node(membership, true);
        ClusterNode other = node(ZooKeeperMembership.join(proxy.servers(), NAME, settings, TIMEOUT_NS), true);
        until(() -> hasRegions(one.node(), 2));
        int own = one.node().configuration().regions().entrySet().stream()
                .filter(region -> region.getValue().primary() == one.machine())
                .findFirst()
                .orElseThrow()
                .getKey();
        long address = allocate(one.node(), own, 1);
        ZooKeeper client = membership.client();
        proxy.cut();
        until(() -> membership.client() != client); // it has heard nothing for longer than a lease
        AtomicBoolean isBack = new AtomicBoolean();
        CompletableFuture<Boolean> committed = CompletableFuture.supplyAsync(() -> {
            TransactionOutcome<Boolean> outcome = one.node().transact(1, transaction -> {
                transaction.read(address, LENGTH);
                transaction.write(address).putLong(VALUE, 2);
                return true;
            });
            return isBack.get() && outcome instanceof TransactionOutcome.Committed;
        });
        for (int i = 0; i < 1000; i++) {
            assertEquals(2, one.node().configuration().members().size()); // turns of the node
        }
        isBack.set(true);
        proxy.mend();

        assertTrue(committed.get(TIMEOUT_NS, TimeUnit.NANOSECONDS), "it has committed without a lease, or not at all");
        assertEquals(2, other.node().read(address, LENGTH).getLong(VALUE));
        assertEquals(1, one.node().configuration().epoch());
        assertFalse(one.isOver() || other.isOver());
    }

    @Test
    void shouldEndWhenItsSessionHasEnded() throws Exception {
        ZooKeeperMembership membership = join();
        CountDownLatch told = new CountDownLatch(1);
        ClusterNode node =
                opened(ClusterNode.start(this::device, membership, membership.context(ANY), told::countDown));
        boolean ignored = membership.client().close(5000); // as if ZooKeeper had ended it
        assertTrue(told.await(TIMEOUT_NS, TimeUnit.NANOSECONDS), "its thread goes on");

        FarmException failure =
                assertThrows(FarmException.class, () -> node.node().configuration());
        assertTrue(String.valueOf(failure.getMessage()).contains("no member any more"), failure.getMessage());
        node.close();
        assertEquals(Optional.empty(), node.failure());
    }

    /** Whatever has failed, a turn may be half done: nobody shall go on from there. */
    @Test
    void shouldEndWhenATurnHasFailed() throws Exception {
        for (Throwable thrown : List.of(new IllegalStateException("test"), new OutOfMemoryError("test"))) {
            CountDownLatch told = new CountDownLatch(1);
            ZooKeeperMembership membership = join();
            ClusterNode node =
                    opened(ClusterNode.start(this::device, membership, membership.context(ANY), told::countDown));
            node.run(() -> {
                if (thrown instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) thrown;
            });
            assertTrue(told.await(TIMEOUT_NS, TimeUnit.NANOSECONDS), () -> "it goes on after " + thrown);
            assertEquals(Optional.of(thrown), node.failure());
            assertTrue(node.isOver());
        }
    }

    @Test
    void shouldLeaveTheClusterWhenItsPortIsTaken() {
        ZooKeeperMembership first = opened(join());
        VerbsDevice device = opened(new SoftRdmaProvider().open(Map.of()));
        InetSocketAddress taken = opened(device.listen(ANY, 1)).localAddress();
        ZooKeeperMembership membership = join();

        VerbsException failure = assertThrows(
                VerbsException.class,
                () -> ClusterNode.start(this::device, membership, membership.context(taken), () -> {}));

        assertEquals(VerbsErrorCode.ADDRESS_IN_USE, failure.code());
        assertFalse(membership.client().getState().isAlive(), "its session is open");
        try (ClusterView view = ClusterView.open(server.servers(), NAME, TIMEOUT_NS)) {
            assertTrue(view.alive().isEmpty());
        }
        assertEquals(0, first.machine());
    }

    @Test
    void shouldLeaveItsPortWhenItCannotSayWhereItListens() throws Exception {
        VerbsDevice device = opened(new SoftRdmaProvider().open(Map.of()));
        InetSocketAddress address;
        try (Listener free = device.listen(ANY, 1)) {
            address = free.localAddress();
        }
        ZooKeeperMembership membership = join();
        boolean ignored = membership.client().close(5000);
        assertThrows(
                ClusterException.class,
                () -> ClusterNode.start(this::device, membership, membership.context(address), () -> {}));
        assertEquals(address, opened(device.listen(address, 1)).localAddress());
    }

    @Test
    void shouldNameTheClustersThatThereAreWhenOneIsNotThere() {
        ZooKeeperMembership ignored = opened(join());
        ClusterException failure =
                assertThrows(ClusterException.class, () -> ClusterView.open(server.servers(), "shop", TIMEOUT_NS));
        String message = String.valueOf(failure.getMessage());
        assertTrue(message.contains("no cluster 'shop'"), message);
        assertTrue(message.endsWith("only " + NAME), message);
    }
}
