package org.softrdma.cli.study;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.pinning.PinningPlan;
import org.softrdma.bench.pinning.PinningStudy;
import org.softrdma.bench.study.Cores;
import org.softrdma.cli.command.ProviderMixin;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma pinning-study}: what lazy pinning costs and saves. */
@Command(
        name = "pinning-study",
        description = {
            "Compare locking memory at registration, on first use, and never: registration time, first"
                    + " touch, GETs under a budget, and a server whose items exceed its memory. Prints a"
                    + " table and writes results.json and report.html.",
            "The last part needs a disk, and root for a control group. Parts that cannot run are skipped,"
                    + " and the report says why."
        })
public final class PinningStudyCommand implements Callable<Integer> {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final List<Long> SIZES = List.of(MIB, 16 * MIB, 256 * MIB, GIB, 4 * GIB, 16 * GIB, 64 * GIB);
    private static final List<Integer> BUDGETS = List.of(5, 10, 25, 50, 75, 100);
    private static final int TOUCHES = 512;
    private static final int CLIENTS = 2;
    private static final int WINDOW = 4;
    private static final int VALUE_BYTES = 1024;
    private static final int CONFINED_VALUE_BYTES = 10 * 1024;
    private static final int CONFINED_PAIRS = 40_000;
    private static final long CONFINED_BYTES = 384 * MIB;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(
            names = "--pairs",
            paramLabel = "N",
            defaultValue = "50000",
            description = "Number of 1 KiB items in each server (${DEFAULT-VALUE}).")
    private int pairs;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "Number of rounds of each measurement (${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--round",
            paramLabel = "MS",
            defaultValue = "1000",
            description = "Length of a round of GETs in milliseconds (${DEFAULT-VALUE}).")
    private int roundMs;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "pinning-results",
            description = "Directory for results.json and report.html, on a disk (./${DEFAULT-VALUE}).")
    private Path out = Path.of("pinning-results");

    PinningStudyCommand() {}

    @Override
    public Integer call() {
        PinningStudy study = new PinningStudy(
                plan(),
                StudyRun.setup(spec, provider, null, null, System.getenv().getOrDefault("PATH", "")));
        return StudyRun.run(spec, out, study::run);
    }

    private PinningPlan plan() {
        if (roundMs < 1) {
            throw new ParameterException(
                    spec.commandLine(), "--round " + roundMs + ": expected at least 1 millisecond");
        }
        try {
            return new PinningPlan(
                    StudyRun.scenario(spec),
                    new PinningPlan.Registration(SIZES, GIB),
                    TOUCHES,
                    new PinningPlan.Items(pairs, VALUE_BYTES),
                    BUDGETS,
                    new PinningPlan.Load(CLIENTS, WINDOW),
                    new PinningPlan.Confined(
                            new PinningPlan.Items(CONFINED_PAIRS, CONFINED_VALUE_BYTES), CONFINED_BYTES),
                    new PinningPlan.Timing(
                            TimeUnit.MILLISECONDS.toNanos(roundMs), TimeUnit.MILLISECONDS.toNanos(roundMs), rounds),
                    Cores.of(Runtime.getRuntime().availableProcessors()));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
