package org.softrdma.cli.farm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.floor.VerbsCosts;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.server.EtcdTransfers;
import org.softrdma.bench.server.RedisTransfers;
import org.softrdma.bench.server.ServerProcess;
import org.softrdma.bench.server.TransferStore;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.ResultFile;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cluster.ClusterException;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.farm.node.FarmException;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softrdma farm bench}: what transactions and lookups cost, beside what they are made of and beside other stores. */
@Command(
        name = "bench",
        description = {
            "Run a cluster on this machine, and measure transfers between two accounts and lookups in a hash table:"
                    + " how many a second, how long they take, and the CPU time of all processes. By turns with them: the"
                    + " empty message and the READ that they are made of, the same without FaRM, and transfers of redis"
                    + " and etcd if they are installed.",
            "First with a single machine for each object, then with --replicas, or with 3; others with as many copies."
                    + " Compare figures within a run, not of different runs, and never without the promises beside"
                    + " them."
        })
final class FarmBenchCommand implements Callable<Integer> {
    private static final int MOST_WINDOW = 64;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Mixin
    private SpaceOptions space = new SpaceOptions();

    @Option(
            names = "--window",
            paramLabel = "N",
            split = ",",
            defaultValue = "1,16",
            description = "Operations under way, one row for each (${DEFAULT-VALUE}).")
    private List<Integer> windows = List.of();

    @Option(
            names = "--accounts",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Accounts between which transfers are made (${DEFAULT-VALUE}).")
    private int accounts;

    @Option(
            names = "--pairs",
            paramLabel = "N",
            defaultValue = "10000",
            description = "Pairs of the hash table, of 16 + 32 bytes (${DEFAULT-VALUE}).")
    private int pairs;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "Number of interleaved rounds (${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--millis",
            paramLabel = "N",
            defaultValue = "700",
            description = "Length of a round in milliseconds (${DEFAULT-VALUE}).")
    private int millis;

    @Option(
            names = "--warm-up-millis",
            paramLabel = "N",
            defaultValue = "5000",
            description = "Warm-up of each row in milliseconds (${DEFAULT-VALUE}).")
    private int warmUpMillis;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Decides transfers and lookups (${DEFAULT-VALUE}).")
    private long seed;

    /** Stores beside it. */
    enum Beside {
        REDIS,
        ETCD,
        NONE
    }

    @Option(
            names = "--beside",
            paramLabel = "redis|etcd|none",
            split = ",",
            defaultValue = "redis,etcd",
            description = "Stores beside it (${DEFAULT-VALUE}); one that is not on the PATH is skipped.")
    private List<Beside> beside = List.of();

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to this file too.")
    private @Nullable Path json;

    FarmBenchCommand() {}

    @Override
    public Integer call() {
        if (windows.stream().anyMatch(window -> window < 1 || window > MOST_WINDOW)
                || accounts < 2
                || pairs < 1
                || rounds < 1
                || millis < 1
                || warmUpMillis < 1) {
            throw new UserErrorException("expected --window of 1 to " + MOST_WINDOW
                    + ", --accounts 2, --pairs 1, --rounds 1, --millis 1, --warm-up-millis 1, or more");
        }
        provider.tolerateStoppedProcesses();
        MachineDescription machine = MachineDescription.here(OwnProgram.codeDirectory());
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode results = mapper.createObjectNode();
        results.put("schema", 1).put("study", "farm bench");
        results.set("machine", mapper.valueToTree(machine));
        results.put("accounts", accounts)
                .put("pairs", pairs)
                .put("rounds", rounds)
                .put("millis", millis)
                .put("warmUpMillis", warmUpMillis)
                .put("seed", seed);
        ArrayNode rows = results.putArray("rows");
        try {
            say("machine: " + machine.cpuModel() + ", " + machine.cpus() + " cpus, " + machine.kernel() + ", "
                    + machine.jdk());
            for (ClusterSettings settings : space.bothSettings()) {
                LocalCluster.run(
                        spec,
                        provider,
                        settings,
                        1,
                        (cluster, view, client) -> measure(view.settings(), cluster, client, rows));
            }
        } catch (MeasurementException | ClusterException | FarmException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
        if (json != null) {
            ResultFile.write(json, results);
        }
        return ExitCode.OK;
    }

    private void measure(ClusterSettings settings, LocalCluster cluster, ClientOfCluster client, ArrayNode rows) {
        int replicas = settings.replicas();
        say("");
        say(settings.machines() + " machines, " + replicas + " of them with each object; medians of " + rounds
                + " rounds of " + millis + " ms by turns");
        List<String> responder = new ArrayList<>(List.of("perf", "responder"));
        responder.addAll(provider.arguments());
        List<String> command = OwnProgram.again(spec.root().userObject().getClass(), responder);
        LoopbackHosts hosts = new LoopbackHosts(provider.rocePort());
        BenchRun.Settings bench = new BenchRun.Settings(
                windows,
                accounts,
                pairs,
                rounds,
                TimeUnit.MILLISECONDS.toNanos(millis),
                TimeUnit.MILLISECONDS.toNanos(warmUpMillis),
                seed);
        List<TransferStore> stores = new ArrayList<>();
        try (VerbsCosts costs = new VerbsCosts(provider::openWithKnown, command, hosts, BenchRun.MESSAGE)) {
            for (Beside other : beside) {
                start(other, replicas, cluster.directory()).ifPresent(stores::add);
            }
            new BenchRun(bench, cluster, client, replicas, this::say).run(stores, costs, rows);
        } finally {
            CloseHelper.closeAll(stores);
        }
    }

    private Optional<TransferStore> start(Beside other, int replicas, Path directory) {
        return switch (other) {
            case REDIS ->
                find("redis-server")
                        .map(program -> RedisTransfers.start(program, replicas - 1, accounts, Bank.BALANCE, seed));
            case ETCD ->
                find("etcd")
                        .map(program ->
                                EtcdTransfers.start(program, directory, replicas, accounts, Bank.BALANCE, seed));
            case NONE -> Optional.empty();
        };
    }

    private Optional<Path> find(String program) {
        Optional<Path> found = ServerProcess.find(program);
        if (found.isEmpty()) {
            say("without " + program + ": there is none on the PATH");
        }
        return found;
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
