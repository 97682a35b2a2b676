package org.softrdma.cli.perf;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.floor.FloorLoad;
import org.softrdma.bench.floor.FloorOperation;
import org.softrdma.bench.floor.FloorStudy;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ResultFile;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma perf floor}: what requests cost beside the cheapest C servers for the same bytes. */
@Command(
        name = "floor",
        description = {
            "Compare the software RNIC with a minimal C server and with a plain TCP ping-pong.",
            "One Java client loads them in turn. Compare the ratios within a run, not figures of different runs."
        })
final class PerfFloorCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private PerfStudyOptions study = new PerfStudyOptions();

    @Mixin
    private PerfLimitOptions limits = new PerfLimitOptions();

    @Option(
            names = "--operations",
            paramLabel = "read|write|send",
            split = ",",
            defaultValue = "READ",
            description = "Requests to measure, separated by commas (read). Each takes about two minutes.")
    private List<FloorOperation> operations = List.of();

    @Option(
            names = "--sizes",
            paramLabel = "SIZE",
            split = ",",
            defaultValue = "1K,10K,100K",
            description = "Request sizes (${DEFAULT-VALUE}).")
    private List<String> sizes = List.of();

    @Option(
            names = "--windows",
            paramLabel = "N",
            split = ",",
            defaultValue = "1,16",
            description = "Requests outstanding per connection (${DEFAULT-VALUE}).")
    private List<Integer> windows = List.of();

    @Option(
            names = "--connections",
            paramLabel = "N",
            defaultValue = "8",
            description = "Number of connections (${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            defaultValue = "64M",
            description = "Size of the memory to READ from and WRITE to (${DEFAULT-VALUE}).")
    private String memory = "";

    @Option(
            names = "--responders",
            paramLabel = "N",
            defaultValue = "3",
            description = "Number of soft RNIC processes, one per round in turn, because no two JVMs compile a"
                    + " program to quite the same code (${DEFAULT-VALUE}).")
    private int responders;

    @Option(
            names = "--latency",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description = "Also measure round trips of single READs; --no-latency skips them.")
    private boolean latency;

    @Option(
            names = "--same-host",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description =
                    "Also measure READs of shared memory on the same host, which this process does itself, beside the"
                            + " same copies in C; --no-same-host skips them.")
    private boolean sameHost;

    @Option(
            names = "--both-ways",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description = "Also measure READs of 64 KiB in both directions of one connection, beside a C program whose"
                    + " both ends do the same; --no-both-ways skips them.")
    private boolean bothWays;

    @Option(
            names = "--beside",
            paramLabel = "JAR",
            description = "Also measure the software RNIC of another build (its cli/target/softrdma.jar) in the same"
                    + " rounds, and print this build's server CPU divided by its. Latency is of this build only.")
    @Nullable
    private Path beside;

    PerfFloorCommand() {}

    @Override
    public Integer call() {
        FloorStudy floor = floor();
        try {
            ObjectNode results = floor.run();
            if (study.json != null) {
                ResultFile.write(study.json, results);
            }
        } catch (MeasurementException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
        return limits.check && !floor.aboveLimit().isEmpty() ? ExitCode.FAILED : ExitCode.OK;
    }

    private FloorStudy floor() {
        try {
            FloorLoad load = new FloorLoad(
                    operations,
                    sizes.stream().map(ByteSize::parse).toList(),
                    windows,
                    connections,
                    ByteSize.parse(memory),
                    responders,
                    latency,
                    sameHost,
                    bothWays,
                    limits.limit);
            return new FloorStudy(study.setup(beside), load);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
