package org.softrdma.cli.farm;

import java.io.PrintWriter;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.cluster.ClusterView;
import org.softrdma.farm.graph.LinkBenchGraph;
import org.softrdma.farm.map.FarmMap;
import org.softrdma.farm.node.FarmException;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softrdma farm load}: fills a cluster. */
@Command(
        name = "load",
        description = {
            "Fill a cluster with a graph, for `softrdma farm tao`, or with a hash table.",
            "The graph has LinkBench's degrees, up to 1000 associations of a node, 128 bytes of data a node and 8 an"
                    + " association; each association has an inverse. A hash table has keys of 16 and values of"
                    + " 32 bytes. If interrupted, run the command again to continue."
        })
final class FarmLoadCommand implements Callable<Integer> {
    private static final String TABLE = "table";
    private static final int KEY = 16;
    private static final int VALUE = 32;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Mixin
    private ClusterOptions cluster = new ClusterOptions();

    @Option(names = "--graph", paramLabel = "NODES", description = "Load a graph with this number of nodes.")
    private @Nullable Integer graph;

    @Option(names = "--table", paramLabel = "PAIRS", description = "Load a hash table with this number of pairs.")
    private @Nullable Integer table;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Decides the associations of the graph (${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "8",
            description = "Concurrent transactions (${DEFAULT-VALUE}).")
    private int threads;

    FarmLoadCommand() {}

    @Override
    public Integer call() {
        if ((graph == null) == (table == null)) {
            throw new UserErrorException("expected either --graph or --table");
        }
        if ((graph != null && graph < 2) || (table != null && table < 1) || threads < 1) {
            throw new UserErrorException("expected --graph 2, --table 1, --threads 1, or more");
        }
        try {
            return cluster.look(view -> {
                try (ClientOfCluster client =
                        ClientOfCluster.join(provider, cluster.join(ClusterSettings.DEFAULT), () -> {})) {
                    load(view, client.node().node());
                }
            });
        } catch (MeasurementException | FarmException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
    }

    private void load(ClusterView view, FarmNode node) {
        if (graph != null) {
            LoadedGraph loaded = LoadedGraph.load(view, node, new LinkBenchGraph(graph, seed), threads, this::say);
            say("graph at " + Long.toHexString(loaded.address()));
        } else if (table != null) {
            loadTable(view, node, table);
        }
    }

    private void loadTable(ClusterView view, FarmNode node, int pairs) {
        Optional<Map<String, String>> there = view.data(TABLE);
        LoadedMap map = there.map(LoadedMap::of).orElseGet(() -> LoadedMap.create(node, pairs, KEY, VALUE));
        if (map.pairs() != pairs) {
            throw new MeasurementException("cluster '" + view.name() + "' has a hash table for " + map.pairs()
                    + " pairs already: load that, or use another cluster");
        }
        view.data(TABLE, new HashMap<>(map.values()));
        LoadThreads.run(threads, pairs, () -> {
            FarmMap open = map.open(node);
            return number -> LoadedMap.put(open, map.key(number), new byte[VALUE]);
        });
        say("pairs: " + pairs);
        say("hash table at " + Long.toHexString(map.address()) + ", " + map.shards() + " shards");
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
