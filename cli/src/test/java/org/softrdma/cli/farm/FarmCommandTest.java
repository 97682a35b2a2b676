package org.softrdma.cli.farm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.cluster.ClusterException;
import org.softrdma.cluster.ClusterNode;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.cluster.ClusterView;
import org.softrdma.cluster.LocalZooKeeper;
import org.softrdma.cluster.ZooKeeperMembership;
import org.softrdma.farm.graph.FarmGraph;
import org.softrdma.farm.graph.LinkBenchGraph;
import org.softrdma.farm.map.FarmMap;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine;

/** What a user of {@code softrdma farm} meets who mistypes, or whose machines are not as expected. */
@Timeout(100)
class FarmCommandTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final ClusterSettings SETTINGS = new ClusterSettings(1, 1, 1 << 20, 1 << 14, 22_500);

    @TempDir
    private static Path directory;

    private static LocalZooKeeper server;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() {
        server = LocalZooKeeper.start(directory, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private int execute(List<String> arguments) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out));
        commandLine.setErr(new PrintWriter(err));
        return commandLine.execute(arguments.toArray(String[]::new));
    }

    private int executeAt(String cluster, String command, String... options) {
        List<String> arguments = new ArrayList<>(List.of("farm", command));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of("--zookeeper", server.servers(), "--name", cluster));
        return execute(arguments);
    }

    private static ZooKeeperMembership join(String cluster) {
        return ZooKeeperMembership.join(server.servers(), cluster, SETTINGS, TIMEOUT_NS);
    }

    /** It may write no file of more than a kilobyte, as if its disk were full. */
    @Test
    void shouldSayThatZooKeeperHasEndedByItself(@TempDir Path full) throws Exception {
        List<String> arguments =
                List.of("farm", "zookeeper", "--listen", "127.0.0.1:0", "--until-input-ends", "--dir", full.toString());
        try (Child child = Child.start("zookeeper", OwnProgram.again(Main.class, arguments))) {
            String servers = child.await("zookeeper:", 60);
            Process limit = new ProcessBuilder("prlimit", "--fsize=1000", "--pid", String.valueOf(child.pid()))
                    .inheritIO()
                    .start();
            assertEquals(0, limit.waitFor());
            assertThrows(
                    ClusterException.class,
                    () -> ZooKeeperMembership.join(servers, "full", SETTINGS, TimeUnit.SECONDS.toNanos(2)));
            assertEquals(OptionalInt.of(ExitCode.FAILED), child.exitCode(60));
            assertTrue(child.errorOutput().contains("cannot write to " + full), child::errorOutput);
        }
    }

    @Test
    void shouldSayThatItIsNoDatabase() {
        assertEquals(ExitCode.OK, execute(List.of("farm", "--help")));
        assertTrue(out.toString().replaceAll("\\s+", " ").contains("A study, not a database"), out::toString);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "status --name=a/b | the name of a cluster 'a/b': expected 1 to 64 letters",
                "status --zookeeper=127.0.0.1:1 --timeout=0 | no ZooKeeper answers at 127.0.0.1:1",
                "status --zookeeper=nowhere:port | no ZooKeeper at nowhere:port: expected host:port",
                "node --listen=127.0.0.1 | --listen 127.0.0.1: expected HOST:PORT",
                "node --listen=0.0.0.0:7480 | --listen 0.0.0.0:7480: expected the address that the other machines",
                "node --nodes=2 --replicas=3 | --nodes 2, --replicas 3: expected one or more nodes",
                "node --region=much | 'much' is not a size",
                "bank --kill=node --replicas=1 | --kill node needs --replicas 2",
                "bank --kill=all | --kill all: expected node or coordinator or zookeeper or majority",
                "bank --zookeepers=0 | --zookeepers 0: expected 1 to 9",
                "local --zookeepers=ten | --zookeepers",
                "zookeeper --dir=/proc/none --id=1 --ensemble=a:1,b:2,c:3 | --ensemble a:1: expected HOST:PORT:PORT",
                "zookeeper --dir=/proc/none --id=1 --ensemble=a:1:2 | --ensemble: expected all servers, three of them",
                "zookeeper --dir=/proc/none --id=3 --ensemble=a:1:2,b:1:2 | --id 3: expected 1 to 2",
                "zookeeper --dir=/proc/none --id=3 | --id 3: expected --ensemble, too",
                "load | expected either --graph or --table",
                "load --graph=5 --table=5 | expected either --graph or --table",
                "load --graph=1 | expected --graph 2",
                "tao --updates=5,101 | --updates of 0 to 100",
                "tao --window=0 | --window 1",
                "bench --window=0 | --window of 1 to 64",
                "bench --accounts=1 | --accounts 2",
                "bank --groups=0 | expected --groups 1",
                "zookeeper --dir=/proc/none | ZooKeeper does not start at 127.0.0.1:2181 with /proc/none"
            })
    void shouldSayWhatIsWrong(String command, String expected) {
        List<String> arguments = new ArrayList<>(List.of("farm"));
        arguments.addAll(List.of(command.split(" ")));
        assertEquals(ExitCode.USAGE, execute(arguments), out::toString);
        assertTrue(err.toString().contains(expected), err::toString);
    }

    @Test
    void shouldNameTheClustersThatThereAreWhenOneIsNotThere() {
        try (ZooKeeperMembership there = join("orders")) {
            assertEquals(0, there.machine());
            assertEquals(ExitCode.USAGE, executeAt("shop", "status"));
            assertTrue(err.toString().contains("there is no cluster 'shop'"), err::toString);
            assertTrue(err.toString().contains("orders"), err::toString);
        }
    }

    @Test
    void shouldRefuseOtherSettingsThanTheClusterHas() {
        try (ZooKeeperMembership there = join("settings")) {
            assertEquals(SETTINGS, there.settings());
            assertEquals(ExitCode.USAGE, executeAt("settings", "node", "--nodes", "3", "--region", "2M"));
            assertTrue(
                    err.toString()
                            .contains("--nodes is 1 there and 3 here, --region is 1048576 there and 2097152 here"),
                    err::toString);
        }
    }

    @Test
    void shouldRefuseMemoryThatIsNoMultipleOfARegion() {
        try (ZooKeeperMembership there = join("memory")) {
            assertEquals(SETTINGS, there.settings());
            assertEquals(ExitCode.USAGE, executeAt("memory", "node", "--memory", "3000"));
            assertTrue(err.toString().contains("--memory 3000: expected regions of 1M"), err::toString);
        }
    }

    @Test
    void shouldSayThatAPortIsTaken() {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                Listener listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1)) {
            String taken = "127.0.0.1:" + listener.localAddress().getPort();
            assertEquals(ExitCode.USAGE, executeAt("ports", "node", "--listen", taken));
            assertTrue(err.toString().contains("--listen " + taken + ": the port is taken"), err::toString);
        }
    }

    @Test
    void shouldNotBlameItsOptionWhenThePortOfItsDeviceIsTaken() throws IOException {
        try (DatagramSocket taken = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            String port = "roce-port=" + taken.getLocalPort();
            String[] device = {"--device", "wire=roce", "--device", "roce-address=127.0.0.1", "--device", port};
            assertNotEquals(ExitCode.OK, executeAt("ports", "node", device));
            assertTrue(err.toString().contains(String.valueOf(taken.getLocalPort())), err::toString);
            assertFalse(err.toString().contains("--listen"), err::toString);
        }
    }

    @Test
    void shouldShowWhatZooKeeperKnows() {
        try (ZooKeeperMembership machine = join("shown")) {
            machine.announce(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7480), false);
            assertEquals(ExitCode.OK, executeAt("shown", "status"));
            assertTrue(out.toString().contains("no epoch yet: 1 of 1 machines are there"), out::toString);
            assertTrue(
                    out.toString().contains("machine 0: 127.0.0.1:7480, without memory, no member yet"), out::toString);
        }
    }

    @Test
    void shouldShowMachinesAndRegionsAndTakeAPolicy() {
        ZooKeeperMembership membership = join("one");
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (ClusterNode node =
                ClusterNode.start(FarmCommandTest::device, membership, membership.context(any), () -> {})) {
            Bank bank = new Bank(node.node());
            while (node.node().configuration().regions().isEmpty()) {
                Thread.onSpinWait(); // each look waits for the node's thread
            }
            List<Long> accounts = bank.openGroups(1);
            assertEquals(
                    OptionalLong.of(1), bank.transfer(accounts, bank.open(1, 0).getFirst(), new Random(1)));
            assertEquals(OptionalLong.of(4 * Bank.BALANCE), bank.sum(accounts));
            assertEquals(ExitCode.OK, executeAt("one", "drain", "0"));
            assertEquals(ExitCode.USAGE, executeAt("one", "drain", "9"));
            assertTrue(err.toString().contains("machine 9 is no member: expected one of [0]"), err::toString);
            assertEquals(ExitCode.OK, executeAt("one", "status"));
            for (String line : List.of(
                    "epoch 1, active",
                    ", member, primary of 1 of its 1 regions",
                    ": primary 0, replicas none",
                    "wanted: drained machines: 0; no other region moves")) {
                assertTrue(out.toString().contains(line), () -> line + " not in " + out);
            }
            assertEquals(ExitCode.OK, executeAt("one", "rebalance"));
            assertEquals(ExitCode.OK, executeAt("one", "status"));
            assertTrue(
                    out.toString().contains("wanted: drained machines: none; regions spread over all others"),
                    out::toString);
        }
    }

    private static VerbsDevice device() {
        return new SoftRdmaProvider().open(Map.of("progress", "manual"));
    }

    /** Of one machine, whose regions are there. */
    private static ClusterNode start(String cluster) {
        ZooKeeperMembership membership = join(cluster);
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        ClusterNode node = ClusterNode.start(FarmCommandTest::device, membership, membership.context(any), () -> {});
        while (node.node().configuration().regions().isEmpty()) {
            Thread.onSpinWait(); // each look waits for the node's thread
        }
        return node;
    }

    private static ClusterView view(String cluster) {
        return ClusterView.open(server.servers(), cluster, TIMEOUT_NS);
    }

    @Test
    void shouldLoadAGraphAlsoAfterAnInterruption() {
        LinkBenchGraph data = new LinkBenchGraph(60, 3);
        try (ClusterNode node = start("graph");
                ClusterView view = view("graph")) {
            assertEquals(ExitCode.FAILED, executeAt("graph", "tao")); // it does not join
            assertTrue(
                    err.toString().contains("cluster 'graph' has no whole graph: run `softrdma farm load"),
                    err::toString);
            assertThrows(
                    IllegalStateException.class,
                    () -> LoadedGraph.load(view, node.node(), data, 2, line -> {
                        throw new IllegalStateException("interrupted after " + line);
                    }));
            FatPointer[] names = LoadedGraph.find(view).orElseThrow().names(node.node(), 2);
            List<String> said = new ArrayList<>();
            LoadedGraph loaded = LoadedGraph.load(view, node.node(), data, 2, said::add);
            assertArrayEquals(names, loaded.names(node.node(), 2), "nodes were made twice");
            LoadedGraph ignored = LoadedGraph.load(view, node.node(), data, 2, said::add);
            assertEquals("the graph is there already", said.getLast());
            assertThrows(
                    MeasurementException.class,
                    () -> LoadedGraph.load(view, node.node(), new LinkBenchGraph(61, 3), 2, said::add));
            FarmGraph graph = loaded.open(node.node());
            long there = 0;
            for (int number = 0; number < names.length; number++) {
                there += graph.count(names[number], LinkBenchGraph.TYPE).orElseThrow();
                assertEquals(
                        data.drawn(number).length,
                        graph.count(names[number], LinkBenchGraph.TYPE).orElseThrow());
            }
            assertTrue(said.contains("associations: " + there + ", and as many that lead back"), said::toString);
        }
    }

    @Test
    void shouldMeasureTaosOperations() throws IOException {
        Path results = directory.resolve("tao.json");
        try (ClusterNode node = start("tao");
                ClusterView view = view("tao")) {
            LoadedGraph ignored = LoadedGraph.load(view, node.node(), new LinkBenchGraph(60, 3), 2, line -> {});
            assertEquals(
                    ExitCode.OK,
                    executeAt("tao", "tao", "--updates", "0,20", "--seconds", "1", "--json", results.toString()),
                    err::toString);
            assertTrue(
                    out.toString().contains("farm: strictly serializable; one machine has each object"), out::toString);
            JsonNode rows = new ObjectMapper().readTree(results.toFile()).path("rows");
            assertEquals(2, rows.size());
            assertEquals(1.0, rows.get(0).path("readsPerRead").asDouble(), 0.04, rows::toString);
            for (JsonNode row : rows) {
                assertTrue(row.path("operations").asLong() > 0, row::toString);
                assertEquals(0, row.path("lost").asLong(), row::toString);
                assertEquals(
                        row.path("updatePercent").asInt() > 0,
                        row.path("byOperation").has("assoc_add"),
                        row::toString);
            }
        }
    }

    @Test
    void shouldLoadAHashTable() {
        try (ClusterNode node = start("table");
                ClusterView view = view("table")) {
            assertEquals(ExitCode.OK, executeAt("table", "load", "--table", "300", "--threads", "2"), err::toString);
            assertTrue(out.toString().contains("pairs: 300"), out::toString);
            LoadedMap map = LoadedMap.of(view.data("table").orElseThrow());
            FarmMap open = map.open(node.node());
            for (int number = 0; number < 300; number++) {
                assertNotNull(open.get(map.key(number)));
            }
            assertNull(open.get(map.key(300)));
        }
    }

    @Test
    void shouldShowRegionsThatAreLostOrCopied() {
        assertEquals(
                "region 00000005: LOST: every machine that had it whole is gone",
                FarmStatusCommand.region(5, RegionPlacement.NOWHERE));
        assertEquals(
                "region 01000007: primary 0, replicas 2, being copied to 1",
                FarmStatusCommand.region(0x01000007, new RegionPlacement(0, List.of(2), List.of(1))));
    }
}
