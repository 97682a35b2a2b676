package org.softrdma.cli.perf;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.concurrent.Callable;
import org.softrdma.bench.floor.VerbsLoad;
import org.softrdma.bench.floor.VerbsStudy;
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

/** {@code softrdma perf verbs}: READs beside other ways to get as many bytes. */
@Command(
        name = "verbs",
        description = {
            "Compare READs with SENDs that SENDs answer, with WRITEs that WRITEs answer, and with a minimal C server"
                    + " over plain TCP, by the size of the answer.",
            "The first figures of the papers on Pilaf, HERD, Nessie and FaRM show the same comparison for network"
                    + " cards; `softrdma papers` judges them by --json. Neither end ever sleeps. Compare the ratios"
                    + " within a run, not figures of different runs."
        })
final class PerfVerbsCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private PerfStudyOptions study = new PerfStudyOptions();

    @Option(
            names = "--sizes",
            paramLabel = "SIZE",
            split = ",",
            defaultValue = "16,64,256,1K,4K",
            description = "Answer sizes, multiples of 8 (${DEFAULT-VALUE}).")
    private List<String> sizes = List.of();

    @Option(
            names = "--connections",
            paramLabel = "N",
            defaultValue = "8",
            description = "Number of connections, after one alone (${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = "--window",
            paramLabel = "N",
            defaultValue = "16",
            description = "Requests outstanding per connection, after one at a time (${DEFAULT-VALUE}).")
    private int window;

    @Option(
            names = "--responders",
            paramLabel = "N",
            defaultValue = "2",
            description =
                    "Number of responder processes of each kind, one per round in turn, because no two JVMs compile a"
                            + " program to quite the same code (${DEFAULT-VALUE}).")
    private int responders;

    PerfVerbsCommand() {}

    @Override
    public Integer call() {
        VerbsStudy verbs = verbs();
        try {
            ObjectNode results = verbs.run();
            if (study.json != null) {
                ResultFile.write(study.json, results);
            }
        } catch (MeasurementException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
        return ExitCode.OK;
    }

    private VerbsStudy verbs() {
        try {
            VerbsLoad load =
                    new VerbsLoad(sizes.stream().map(ByteSize::parse).toList(), connections, window, responders);
            return new VerbsStudy(study.setup(), load);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
