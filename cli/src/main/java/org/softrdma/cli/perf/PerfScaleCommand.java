package org.softrdma.cli.perf;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.concurrent.Callable;
import org.softrdma.bench.floor.ScaleStudy;
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

/** {@code softrdma perf scale}: what more stags and more connections add to the cost of a READ. */
@Command(
        name = "scale",
        description = "Compare the cost of a READ with few and with many connections and stags, and with a C server"
                + " that has the same number of connections.")
final class PerfScaleCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private PerfStudyOptions study = new PerfStudyOptions();

    @Mixin
    private PerfLimitOptions limits = new PerfLimitOptions();

    @Option(
            names = {"-s", "--size"},
            paramLabel = "SIZE",
            defaultValue = "1K",
            description = "READ size (${DEFAULT-VALUE}).")
    private String size = "";

    @Option(
            names = "--window",
            paramLabel = "N",
            defaultValue = "16",
            description = "READs outstanding per connection (${DEFAULT-VALUE}).")
    private int window;

    @Option(
            names = "--connections",
            paramLabel = "FEW,MANY",
            split = ",",
            defaultValue = "8,1000",
            description = "Numbers of connections (${DEFAULT-VALUE}).")
    private List<Integer> connections = List.of();

    @Option(
            names = "--stags",
            paramLabel = "FEW,MANY",
            split = ",",
            defaultValue = "1000,1000000",
            description = "Numbers of stags, the larger a multiple of the smaller (${DEFAULT-VALUE}).")
    private List<Integer> stags = List.of();

    PerfScaleCommand() {}

    @Override
    public Integer call() {
        ScaleStudy scale = scale();
        try {
            ObjectNode results = scale.run();
            if (study.json != null) {
                ResultFile.write(study.json, results);
            }
            return limits.check && results.get("aboveLimit").asBoolean() ? ExitCode.FAILED : ExitCode.OK;
        } catch (MeasurementException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
    }

    private ScaleStudy scale() {
        if (connections.size() != 2 || stags.size() != 2) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--connections and --stags: expected two numbers each, such as --connections 8,1000"
                            + " --stags 1000,1000000");
        }
        try {
            ScaleStudy.Load load = new ScaleStudy.Load(
                    ByteSize.parse(size),
                    window,
                    connections.get(0),
                    connections.get(1),
                    stags.get(0),
                    stags.get(1),
                    limits.limit);
            return new ScaleStudy(study.setup(), load);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
