package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.farm.node.NumberObjects.LENGTH;
import static org.softrdma.farm.node.NumberObjects.VALUE;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.farm.graph.Edge;
import org.softrdma.farm.graph.Edges;
import org.softrdma.farm.graph.FarmGraph;
import org.softrdma.farm.graph.GraphShape;
import org.softrdma.farm.graph.PolledGraph;
import org.softrdma.farm.map.FarmMap;
import org.softrdma.farm.map.PolledMap;
import org.softrdma.farm.membership.LocalEnsemble;
import org.softrdma.farm.membership.MembershipSettings;
import org.softrdma.farm.membership.Rings;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.farm.table.TableShape;
import org.softrdma.farm.transaction.ShippedFunction;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.Outcome;
import org.softrdma.verbs.device.VerbsDevice;

/** Over TCP: a machine that has a region, on a thread of its own, and one that reads, on the test's. */
class PolledReadsTest {
    private static final int READER = 0;
    private static final int PRIMARY = 1;
    private static final int READS = 2_000;
    private static final int ROUNDS = 60;
    private static final int WINDOW = 8;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

    private static final Map<Integer, ShippedFunction> FUNCTIONS = new HashMap<>(FarmGraph.FUNCTIONS);

    static {
        FUNCTIONS.putAll(FarmMap.FUNCTIONS);
    }

    private final LocalEnsemble ensemble = new LocalEnsemble();
    private final List<VerbsDevice> devices = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private FarmNode reader;
    private FarmNode primary;
    private AgentRunner runner;

    private FarmNode node(int machine, int regions) {
        VerbsDevice device = new SoftRdmaProvider().open(Map.of());
        devices.add(device);
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        MembershipSettings settings = new MembershipSettings(TimeUnit.MINUTES.toNanos(10), 10, 2, 1, new Rings(4));
        return new FarmNode(
                device,
                ensemble.join(machine),
                new FarmNodeContext(address)
                        .cluster(41)
                        .shape(new SpaceShape(1 << 14, 1 << 10, true))
                        .membership(settings)
                        .regions(regions)
                        .functions(FUNCTIONS)
                        .longestMessage(2048));
    }

    @BeforeEach
    void start() {
        reader = node(READER, 0);
        primary = node(PRIMARY, 1);
        runner = new AgentRunner(new BackoffIdleStrategy(), failure::set, null, new Agent() {
            @Override
            public int doWork() {
                return primary.doWork();
            }

            @Override
            public void onClose() {
                primary.close();
            }

            @Override
            public String roleName() {
                return "primary";
            }
        });
        Thread ignored = AgentRunner.startOnThread(runner);
        until(() -> ensemble.isActive(1));
    }

    @AfterEach
    void stop() {
        runner.close();
        reader.close();
        devices.forEach(VerbsDevice::close);
        assertEquals(null, failure.get());
    }

    private void until(BooleanSupplier condition) {
        long beganNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - beganNs < DEADLINE_NS, "it has not come to that");
            int ignored = reader.doWork();
        }
    }

    private long make(long value) {
        return Objects.requireNonNull(NumberObjects.committed(primary.transact(1, transaction -> {
            long address = transaction.allocate(LENGTH, FarmAddress.NONE);
            transaction.write(address).putLong(VALUE, value);
            return address;
        })));
    }

    /** Sums the values, and counts what cannot be read. */
    private static final class Sum implements PolledReads.ReadHandler {
        private long sum;
        private int failures;

        @Override
        public void onObject(long tag, ObjectImage image) {
            sum += image.getLong(VALUE);
        }

        @Override
        public void onFailure(long tag, String reason) {
            failures++;
        }
    }

    private void readAll(PolledReads reads, long address, Sum sum) {
        int started = 0;
        while (started < READS || reads.outstanding() > 0) {
            while (started < READS && reads.startRead(address, LENGTH, started)) {
                started++;
            }
            int ignored = reader.doWork();
            ignored = reads.poll(sum);
        }
    }

    /** The thread of the node and of the application, whatever the device's own threads do. */
    @Test
    void shouldAllocateNothingPerRead() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long address = make(3);
        PolledReads reads = reader.polledReads(WINDOW);
        Sum sum = new Sum();
        double perRead = Double.MAX_VALUE;
        int rounds = 0;
        while (perRead >= 1 && rounds < ROUNDS) { // until the compiler is through with it
            long before = threads.getCurrentThreadAllocatedBytes();
            readAll(reads, address, sum);
            perRead = (double) (threads.getCurrentThreadAllocatedBytes() - before) / READS;
            rounds++;
        }
        assertEquals(3L * rounds * READS, sum.sum);
        assertEquals(0, sum.failures);
        assertTrue(perRead < 1, perRead + " bytes per read");
    }

    @Test
    void shouldSayWhatCannotBeRead() {
        long address = make(5);
        PolledReads reads = reader.polledReads(WINDOW);
        Sum sum = new Sum();
        assertThrows(FarmException.class, () -> reads.startRead(address + 1, LENGTH, 0));
        assertThrows(IllegalArgumentException.class, () -> reader.polledReads(0));
        for (int i = 0; i < WINDOW; i++) {
            assertTrue(reads.startRead(address, LENGTH, i));
        }
        assertFalse(reads.startRead(address, LENGTH, WINDOW), "the window is full");
        until(() -> reads.poll(sum) >= 0 && reads.outstanding() == 0);
        assertEquals(5L * WINDOW, sum.sum);

        assertTrue(reads.startRead(FarmAddress.of(FarmAddress.region(address) + 1, 1024), LENGTH, 1));
        until(() -> reads.poll(sum) >= 0 && reads.outstanding() == 0);
        assertEquals(1, sum.failures);
        assertTrue(reads.startRead(address, LENGTH, 2));
        reader.close();
        assertEquals(1, reads.poll(sum));
        assertEquals(2, sum.failures);
        assertEquals(0, reads.outstanding());
    }

    /** What a graph has told, by the tags. */
    private static final class GraphTold implements PolledGraph.GraphHandler {
        private final List<String> told = new ArrayList<>();

        @Override
        public void onNode(long tag, boolean found, long value) {
            told.add(tag + ": node " + found + " " + value);
        }

        @Override
        public void onEdges(long tag, boolean found, Edges edges) {
            told.add(tag + ": edges " + found + " "
                    + edges.list().stream().map(Edge::time).toList());
        }

        @Override
        public void onChange(long tag, TransactionOutcome<?> outcome) {
            told.add(tag + ": change "
                    + (outcome instanceof TransactionOutcome.Committed<?>(Object value) ? value : "none"));
        }

        @Override
        public void onFailure(long tag, String reason) {
            told.add(tag + ": failure");
        }
    }

    @Test
    void shouldDoWhatAGraphDoesWithoutWaiting() {
        FarmGraph graph = FarmGraph.create(primary, new GraphShape(List.of(GraphShape.NONE), 128));
        FatPointer hub = graph.addObject(1, new byte[5], 5, FarmAddress.NONE);
        FatPointer other = graph.addObject(1, new byte[6], 6, FarmAddress.NONE);
        FatPointer deleted = graph.addObject(1, new byte[7], 7, FarmAddress.NONE);
        for (int i = 0; i < 9; i++) {
            FatPointer to = i == 0 ? other : graph.addObject(1, new byte[1], 1, FarmAddress.NONE);
            assertEquals(Outcome.STORED, graph.addEdge(hub, 0, new Edge(to, i, new byte[8])));
        }
        assertEquals(Outcome.REMOVED, graph.deleteObject(deleted));
        PolledGraph polled = PolledGraph.of(reader, graph.shape(), WINDOW);
        GraphTold told = new GraphTold();
        assertTrue(polled.startObject(hub, 1));
        assertTrue(polled.startCount(hub, 0, 2));
        assertTrue(polled.startRange(hub, 0, 100, 3));
        assertTrue(polled.startFind(hub, 0, Set.of(other), 4));
        assertTrue(polled.startTimeRange(hub, 0, 3, 5, 100, 5));
        assertTrue(polled.startObject(deleted, 6));
        assertTrue(polled.startRange(deleted, 0, 100, 7));
        assertTrue(polled.startFind(deleted, 0, Set.of(other), 8));
        assertFalse(polled.startObject(hub, 9), "the window is full");
        assertEquals(WINDOW, polled.outstanding());
        until(() -> polled.poll(told) >= 0 && polled.outstanding() == 0);
        assertEquals(
                List.of(
                        "1: node true 5",
                        "2: node true 9",
                        "3: edges true [8, 7, 6, 5, 4, 3, 2, 1, 0]",
                        "4: edges true [0]",
                        "5: edges true [5, 4, 3]",
                        "6: node false 0",
                        "7: edges false []",
                        "8: edges false []"),
                told.told.stream().sorted().toList());

        told.told.clear();
        assertTrue(polled.startChange(graph.changes().deleteEdge(hub, 0, other), 1));
        assertTrue(polled.startChange(graph.changes().updateObject(deleted, new byte[1]), 2));
        until(() -> polled.poll(told) >= 0 && polled.outstanding() == 0);
        assertTrue(polled.startRange(hub, 0, 3, 3));
        until(() -> polled.poll(told) >= 0 && polled.outstanding() == 0);
        assertEquals(
                List.of("1: change REMOVED", "2: change MISSING", "3: edges true [8, 7, 6]"),
                told.told.stream().sorted().toList());
        assertTrue(polled.startRange(hub, 0, 3, 4));
        reader.close();
        assertEquals(1, polled.poll(told));
        assertEquals("4: failure", told.told.getLast());
    }

    /** What a map has told, by the tags. */
    private static final class MapTold implements PolledMap.MapHandler {
        private final Map<Long, Long> values = new TreeMap<>();
        private int failures;

        @Override
        public void onValue(long tag, boolean found, ObjectImage image, int offset) {
            values.put(tag, found ? image.getLong(offset) : -1);
        }

        @Override
        public void onFailure(long tag, String reason) {
            failures++;
        }
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(number)
                .array();
    }

    /** Two buckets with a slot each, so all others are in the chain. */
    private FarmMap map() {
        return FarmMap.create(primary, new TableShape(2, true, Long.BYTES, Long.BYTES, true, 1, 1, 42));
    }

    private PolledMap polled(FarmMap map) {
        AtomicReference<@Nullable FarmMap> opened = new AtomicReference<>();
        Thread opener = Thread.ofPlatform().start(() -> opened.set(FarmMap.open(reader, map.address(), 1)));
        until(() -> !opener.isAlive());
        return Objects.requireNonNull(opened.get()).polled(WINDOW);
    }

    private static void put(FarmMap map, long key, long value) {
        assertEquals(Outcome.STORED, map.put(bytes(key), bytes(value)));
    }

    @Test
    void shouldLookKeysUpWithoutWaiting() {
        FarmMap map = map();
        for (int key = 0; key < WINDOW - 1; key++) {
            put(map, key, 100 + key);
        }
        PolledMap polled = polled(map);
        MapTold told = new MapTold();
        for (int key = 0; key < WINDOW; key++) {
            assertTrue(polled.startGet(bytes(key), key));
        }
        assertFalse(polled.startGet(bytes(0), WINDOW), "the window is full");
        assertEquals(WINDOW, polled.outstanding());
        until(() -> polled.poll(told) >= 0 && polled.outstanding() == 0);
        assertEquals("{0=100, 1=101, 2=102, 3=103, 4=104, 5=105, 6=106, 7=-1}", told.values.toString());
        assertEquals(8 + 2 + 2 * 2 + 3 + 3, polled.reads(), "two in buckets, two in each block, and a miss");

        assertThrows(IllegalArgumentException.class, () -> polled.startGet(new byte[1], 1));
        assertTrue(polled.startGet(bytes(0), 1));
        reader.close();
        assertEquals(1, polled.poll(told));
        assertEquals(1, told.failures);
    }

    /** After its first READ the chain collapses: its pair moves to a bucket, and its block is no more. */
    @Test
    void shouldLookUpAgainWhenTheChainHasChanged() {
        FarmMap map = map();
        for (int key = 0; key < 3; key++) {
            put(map, key, 100 + key);
        }
        PolledMap polled = polled(map);
        MapTold told = new MapTold();
        assertTrue(polled.startGet(bytes(2), 2));
        until(() -> polled.poll(told) >= 0 && polled.reads() == 2);
        assertEquals(Outcome.REMOVED, map.remove(bytes(0)));
        put(map, 2, 202);
        until(() -> polled.poll(told) >= 0 && polled.outstanding() == 0);
        assertEquals("{2=202}", told.values.toString());
        assertEquals(3, polled.reads());
    }
}
