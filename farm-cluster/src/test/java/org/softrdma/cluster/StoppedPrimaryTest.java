package org.softrdma.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.agrona.CloseHelper;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.node.FarmNodeContext;
import org.softrdma.farm.node.TransactionOutcome;

/**
 * A primary in a process of its own stands still, and readers on its host go on reading its memory, which needs nothing of
 * it. Servers of ZooKeeper are told long sessions, so only leases run out. It takes seconds: a sample has it on some days.
 */
@Tag("sampled")
@Timeout(110)
class StoppedPrimaryTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int CLIENT_MS = 2000;
    private static final int SERVER_MS = 60_000;

    @TempDir
    private Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();
    private InetSocketAddress zookeeper;

    @BeforeEach
    void start() {
        int sample = Integer.getInteger("softrdma.sample", 1);
        assumeTrue(LocalDate.now(ZoneOffset.UTC).toEpochDay() % sample == 0, "its day is another one");
        LocalZooKeeper server = opened(LocalZooKeeper.start(directory, StoppedPrimary.ANY));
        String text = server.servers();
        zookeeper = new InetSocketAddress(
                StoppedPrimary.ANY.getAddress(), Integer.parseInt(text.substring(text.lastIndexOf(':') + 1)));
    }

    @AfterEach
    void stop() {
        CloseHelper.closeAll(open.reversed());
    }

    private <T extends AutoCloseable> T opened(T made) {
        open.add(made);
        return made;
    }

    private CutProxy way() throws IOException {
        return opened(new CutProxy(zookeeper, CLIENT_MS, SERVER_MS));
    }

    private ClusterNode node(ZooKeeperMembership membership, boolean memory) {
        FarmNodeContext context = membership.context(StoppedPrimary.ANY);
        return opened(ClusterNode.start(
                StoppedPrimary::device, membership, memory ? context : context.withoutMemory(), () -> {}));
    }

    private static void until(BooleanSupplier condition) {
        long beganNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - beganNs < TIMEOUT_NS, "it has not come to that");
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private static void signal(Process process, String signal) throws IOException, InterruptedException {
        assertEquals(
                0,
                new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                        .start()
                        .waitFor());
    }

    private static void send(Process process, long address) throws IOException {
        process.getOutputStream().write((address + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    private void endSession(long id, String password) throws IOException, InterruptedException {
        ZooKeeper same = new ZooKeeper(
                "127.0.0.1:" + zookeeper.getPort(),
                SERVER_MS,
                event -> {},
                id,
                HexFormat.of().parseHex(password));
        until(() -> same.getState().isConnected());
        assertTrue(same.close(5000));
    }

    @Test
    void shouldNotBeReadByAMachineThatHasNotHeardOfTheNextEpoch()
            throws IOException, InterruptedException, ExecutionException, TimeoutException {
        Process stopped = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-exports",
                        "java.base/jdk.internal.misc=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        StoppedPrimary.class.getName(),
                        way().servers())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        opened(stopped::destroyForcibly);
        BufferedReader says = opened(stopped.inputReader(StandardCharsets.UTF_8));
        long session = Long.parseLong(says.readLine());
        String password = Objects.requireNonNull(says.readLine());
        ClusterNode other = node(StoppedPrimary.join(way().servers()), true);
        CutProxy proxy = way();
        ZooKeeperMembership membership = StoppedPrimary.join(proxy.servers());
        ClusterNode reader = node(membership, false);
        until(() -> hasBothRegions(reader) && hasBothRegions(other));
        long address = allocate(other);
        send(stopped, address);
        assertEquals("read 1", says.readLine());
        for (int i = 0; i < 3; i++) {
            assertEquals(1, read(reader, address));
        }

        signal(stopped, "STOP");
        assertEquals(1, read(reader, address), "it is not READ by shared memory");
        send(stopped, address);
        ZooKeeper client = membership.client();
        proxy.cut();
        endSession(session, password);
        AtomicBoolean told = new AtomicBoolean();
        CompletableFuture<Void> written = CompletableFuture.runAsync(() -> {
            until(() -> write(other, address) instanceof TransactionOutcome.Committed);
            told.set(true);
        });
        AtomicBoolean isStale = new AtomicBoolean();
        AtomicLong last = new AtomicLong();
        Thread reading = Thread.ofPlatform().daemon().start(() -> {
            while (last.get() != 2) {
                boolean before = told.get();
                last.set(read(reader, address));
                isStale.compareAndSet(false, before && last.get() == 1);
            }
        });
        until(() -> membership.client() != client); // for longer than a lease
        proxy.mend();
        written.get(TIMEOUT_NS, TimeUnit.NANOSECONDS);
        reading.join();
        assertFalse(isStale.get(), "the memory of a machine that was removed was read");

        signal(stopped, "CONT");
        assertEquals("over", says.readLine());
        assertEquals(2, read(reader, address));
        assertEquals(2, read(other, address));
    }

    private static boolean hasBothRegions(ClusterNode node) {
        return node.node().configuration().regions().size() == 2;
    }

    private static long read(ClusterNode node, long address) {
        return node.node().read(address, StoppedPrimary.LENGTH).getLong(StoppedPrimary.VALUE);
    }

    /** An object whose primary is the first machine. */
    private static long allocate(ClusterNode node) {
        int region = node.node().configuration().regions().entrySet().stream()
                .filter(it -> it.getValue().primary() == 0)
                .findFirst()
                .orElseThrow()
                .getKey();
        TransactionOutcome<Long> outcome = node.node().transact(10, transaction -> {
            long address = transaction.allocate(StoppedPrimary.LENGTH, FarmAddress.of(region, 0));
            transaction.write(address).putLong(StoppedPrimary.VALUE, 1);
            return address;
        });
        return Objects.requireNonNull(
                assertInstanceOf(TransactionOutcome.Committed.class, outcome).value() instanceof Long made
                        ? made
                        : null);
    }

    private static TransactionOutcome<Boolean> write(ClusterNode node, long address) {
        return node.node().transact(1, transaction -> {
            boolean ignored = transaction.read(address, StoppedPrimary.LENGTH).isAllocated();
            transaction.write(address).putLong(StoppedPrimary.VALUE, 2);
            return true;
        });
    }
}
