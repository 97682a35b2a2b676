package org.softrdma.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.softrdma.bench.cpu.MachineDescription;
import org.softrdma.bench.perf.ByteSize;
import org.softrdma.bench.wimpy.WimpyException;
import org.softrdma.bench.wimpy.WimpyPlan;
import org.softrdma.bench.wimpy.WimpySetup;
import org.softrdma.bench.wimpy.WimpyStudy;
import org.softrdma.kv.client.KvException;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma wimpy}: what a GET costs a server, by READ and by memcached. */
@Command(
        name = "wimpy",
        description = {
            "Compare GETs by one-sided READ with memcached on this machine: GETs per second, CPU of the server,"
                    + " latency.",
            "Each server is a child process on one core, the load runs on another. With --quick under two minutes."
        })
final class WimpyCommand implements Callable<Integer> {
    private static final int QUICK_ROUNDS = 3;
    private static final int QUICK_MILLIS = 600;
    private static final int QUICK_WARM_UP_MILLIS = 900;
    private static final int ROUNDS = 7;
    private static final int MILLIS = 2000;
    private static final int WARM_UP_MILLIS = 3000;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(names = "--quick", description = "Few and short rounds.")
    private boolean quick;

    @Option(
            names = "--sizes",
            paramLabel = "SIZE",
            split = ",",
            defaultValue = "1K,10K,100K",
            description = "Bytes of a value (${DEFAULT-VALUE}).")
    private List<String> sizes = List.of();

    @Option(
            names = "--windows",
            paramLabel = "N",
            split = ",",
            defaultValue = "1,16",
            description = "GETs outstanding per connection (${DEFAULT-VALUE}).")
    private List<Integer> windows = List.of();

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "8",
            description = "Connections of the load (${DEFAULT-VALUE}).")
    private int clients;

    @Option(
            names = "--pairs",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Pairs of each size (${DEFAULT-VALUE}).")
    private int pairs;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "wimpy-results",
            description = "Where results.json goes (./${DEFAULT-VALUE}).")
    private Path out = Path.of("wimpy-results");

    WimpyCommand() {}

    @Override
    public Integer call() {
        WimpyStudy study = study();
        try {
            return study.run(out) == 0 ? Main.EXIT_OK : Main.EXIT_FAILED;
        } catch (WimpyException | KvException | VerbsException e) {
            return PerfSupport.failed(spec, e);
        } catch (IOException e) {
            throw new UserErrorException("--out " + out + ": cannot be written: " + e.getMessage(), e);
        }
    }

    private WimpyStudy study() {
        int cores = Runtime.getRuntime().availableProcessors();
        try {
            WimpyPlan plan = new WimpyPlan(
                    quick ? "wimpy --quick" : "wimpy",
                    sizes.stream().map(ByteSize::parse).map(Math::toIntExact).toList(),
                    windows,
                    clients,
                    pairs,
                    quick ? QUICK_ROUNDS : ROUNDS,
                    quick ? QUICK_MILLIS : MILLIS,
                    quick ? QUICK_WARM_UP_MILLIS : WARM_UP_MILLIS,
                    cores > 1 ? cores - 1 : -1,
                    cores > 1 ? 0 : -1);
            List<String> server = new ArrayList<>(PerfSupport.self(List.of("server")));
            server.addAll(PerfSupport.providerArguments(provider));
            WimpySetup setup = new WimpySetup(
                    wanted -> PerfSupport.open(provider, wanted),
                    provider.provider().name(),
                    server,
                    MachineDescription.here(PerfSupport.codeDirectory()),
                    spec.commandLine().getOut(),
                    line -> {
                        spec.commandLine().getErr().println(line);
                        spec.commandLine().getErr().flush();
                    });
            return new WimpyStudy(plan, setup, System.getenv().getOrDefault("PATH", ""));
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
