package org.softrdma.cli.farm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.server.ServerProcess;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.ResultFile;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cluster.ClusterException;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.cluster.ClusterView;
import org.softrdma.farm.graph.FarmGraph;
import org.softrdma.farm.graph.LinkBenchGraph;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.node.FarmException;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softrdma farm tao}: Tao's operations on a graph. */
@Command(
        name = "tao",
        description = {
            "Measure Facebook's Tao's operations on a graph that `softrdma farm load` has loaded, or on a cluster of"
                    + " its own on this machine.",
            "Reads are mixed as in Facebook's paper; changes are additions, removals and updates of nodes and"
                    + " associations. Compare figures within a run, not of different runs."
        })
final class FarmTaoCommand implements Callable<Integer> {
    private static final int PERCENT = 100;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Mixin
    private ClusterOptions cluster = new ClusterOptions();

    @Mixin
    private SpaceOptions space = new SpaceOptions();

    @Option(
            names = "--local",
            description = "Load a graph into a cluster of its own on this machine. Without --replicas two clusters are"
                    + " measured, with one copy of each region and with three.")
    private boolean local;

    @Option(
            names = "--graph",
            paramLabel = "NODES",
            defaultValue = "5000",
            description = "Nodes of the graph that --local loads (${DEFAULT-VALUE}).")
    private int nodes;

    @Option(
            names = "--updates",
            paramLabel = "PERCENT",
            split = ",",
            defaultValue = "0,5,20",
            description = "Percentage of operations that are changes; one run for each value (${DEFAULT-VALUE}).")
    private List<Integer> updates = List.of();

    @Option(
            names = "--window",
            paramLabel = "N",
            defaultValue = "16",
            description = "Outstanding operations (${DEFAULT-VALUE}).")
    private int window;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "5",
            description = "Length of each run, after a warm-up of the same length (${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the graph that --local loads, and of the operations (${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "8",
            description = "Concurrent transactions while the graph is loaded (${DEFAULT-VALUE}).")
    private int threads;

    /** Stores beside it. */
    enum Beside {
        REDIS,
        NONE
    }

    @Option(
            names = "--beside",
            paramLabel = "redis|none",
            defaultValue = "redis",
            description =
                    "With --local, a store with the same graph, measured by turns (${DEFAULT-VALUE}); skipped if it"
                            + " is not on the PATH.")
    private Beside beside = Beside.REDIS;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to this file too.")
    private @Nullable Path json;

    FarmTaoCommand() {}

    @Override
    public Integer call() {
        if (nodes < 2
                || window < 1
                || seconds < 1
                || threads < 1
                || updates.stream().anyMatch(percent -> percent < 0 || percent > PERCENT)) {
            throw new UserErrorException("expected --graph 2, --window 1, --seconds 1, --threads 1, or more, and"
                    + " --updates of 0 to 100");
        }
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode results = mapper.createObjectNode();
        results.put("schema", 1).put("study", "farm tao");
        results.put("window", window).put("seconds", seconds).put("seed", seed);
        ArrayNode rows = results.putArray("rows");
        try {
            if (local) {
                for (ClusterSettings settings : space.bothSettings()) {
                    LocalCluster.run(spec, provider, settings, 1, (started, view, client) -> {
                        LinkBenchGraph data = new LinkBenchGraph(nodes, seed);
                        LoadedGraph graph = LoadedGraph.load(view, client.node().node(), data, threads, this::say);
                        try (@Nullable
                                RedisTao redis = startRedis(view.settings().replicas(), data)) {
                            measure(view.settings(), graph, client, started, redis, results, rows);
                        }
                    });
                }
            } else {
                int ignored = cluster.look(view -> measureThere(view, results, rows));
            }
        } catch (MeasurementException | ClusterException | FarmException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
        if (json != null) {
            ResultFile.write(json, results);
        }
        return ExitCode.OK;
    }

    private void measureThere(ClusterView view, ObjectNode results, ArrayNode rows) {
        LoadedGraph graph = LoadedGraph.find(view)
                .filter(LoadedGraph::isWhole)
                .orElseThrow(() -> new MeasurementException("cluster '" + view.name()
                        + "' has no whole graph: run `softrdma farm load --graph NODES` with the same --zookeeper and"
                        + " --name first"));
        try (ClientOfCluster client = ClientOfCluster.join(provider, cluster.join(ClusterSettings.DEFAULT), () -> {})) {
            measure(view.settings(), graph, client, null, null, results, rows);
        }
    }

    private void measure(
            ClusterSettings settings,
            LoadedGraph graph,
            ClientOfCluster client,
            @Nullable LocalCluster machines,
            @Nullable RedisTao redis,
            ObjectNode results,
            ArrayNode rows) {
        say("farm: " + BenchRun.promise(settings.replicas()));
        if (redis != null) {
            say(redis.promise());
        }
        results.put("nodes", graph.data().nodes()).put("machines", settings.machines());
        FatPointer[] names = graph.names(client.node().node(), threads);
        FarmGraph open = graph.open(client.node().node());
        long ns = TimeUnit.SECONDS.toNanos(seconds);
        for (int percent : updates) {
            TaoRun.Result result = new TaoRun(percent, window, ns, ns, seed).run(client, open, names, machines);
            say(result.text(settings.replicas()));
            rows.add(result.json(new ObjectMapper(), settings.replicas()));
            if (redis != null) {
                RedisTao.Result other = redis.measure(percent, window, ns, ns, seed);
                say(other.text(settings.replicas()));
                results.withArray("besideRows").add(other.json(new ObjectMapper(), settings.replicas()));
            }
        }
    }

    private @Nullable RedisTao startRedis(int replicas, LinkBenchGraph data) {
        if (beside == Beside.NONE) {
            return null;
        }
        Optional<Path> program = ServerProcess.find("redis-server");
        if (program.isEmpty()) {
            say("without redis-server: there is none on the PATH");
            return null;
        }
        return RedisTao.start(program.get(), replicas - 1, data);
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
