package org.softrdma.cli.study;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.papers.Ledger;
import org.softrdma.bench.papers.LedgerRow;
import org.softrdma.bench.papers.LedgerSources;
import org.softrdma.bench.papers.LedgerVerdict;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ResultFile;
import org.softrdma.cli.command.UserErrorException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softrdma papers}: each figure and table of the papers with a verdict. */
@Command(
        name = "papers",
        description = {
            "Judge the figures and tables of the papers by results of `softrdma compare`, `softrdma wimpy`, `softrdma"
                    + " perf floor`, `softrdma perf verbs` and `softrdma farm tao`. Measures nothing itself.",
            "Each row has a verdict and its reason: holds, does not hold here, not judged, of a model only, not in our"
                    + " text of the paper, or not run. A run that warns of a busy machine or a cold server judges"
                    + " nothing."
        })
public final class PapersCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--compare",
            paramLabel = "FILE",
            defaultValue = "compare-results/results.json",
            description = "Results of `softrdma compare` (./${DEFAULT-VALUE}).")
    private Path compare = Path.of("");

    @Option(
            names = "--counts",
            paramLabel = "FILE",
            defaultValue = "compare-counts/results.json",
            description = "Results of `softrdma compare --fabric --skew 0 --mixes C --pairs 24576 --nodes 3,10 --out"
                    + " compare-counts` (./${DEFAULT-VALUE}).")
    private Path counts = Path.of("");

    @Option(
            names = "--wimpy",
            paramLabel = "FILE",
            defaultValue = "wimpy-results/results.json",
            description = "Results of `softrdma wimpy` (./${DEFAULT-VALUE}).")
    private Path wimpy = Path.of("");

    @Option(
            names = "--perf",
            paramLabel = "FILE",
            defaultValue = "perf-floor.json",
            description = "Results of `softrdma perf floor --operations read,write --sizes 32 --json perf-floor.json`"
                    + " (./${DEFAULT-VALUE}).")
    private Path perf = Path.of("");

    @Option(
            names = "--verbs",
            paramLabel = "FILE",
            defaultValue = "perf-verbs.json",
            description = "Results of `softrdma perf verbs --json perf-verbs.json` (./${DEFAULT-VALUE}).")
    private Path verbs = Path.of("");

    @Option(
            names = "--farm",
            paramLabel = "FILE",
            defaultValue = "farm-tao.json",
            description = "Results of `softrdma farm tao --local --json farm-tao.json` (./${DEFAULT-VALUE}).")
    private Path farm = Path.of("");

    @Option(names = "--json", paramLabel = "FILE", description = "Write the rows to this file too.")
    private @Nullable Path json;

    PapersCommand() {}

    @Override
    public Integer call() {
        requireNamedFiles();
        List<LedgerRow> rows = rows();
        PrintWriter out = spec.commandLine().getOut();
        Map<LedgerVerdict, Long> sums = new EnumMap<>(LedgerVerdict.class);
        for (LedgerRow row : rows) {
            sums.merge(row.verdict(), 1L, Long::sum);
            out.println(row.id() + ": " + row.shows());
            out.println("    shape:   " + row.shape());
            out.println("    verdict: " + row.verdict().words() + ": " + row.why());
        }
        out.println();
        out.println(rows.size() + " rows: "
                + sums.entrySet().stream()
                        .map(each ->
                                each.getValue() + " " + each.getKey().words().replace(", because", ""))
                        .collect(Collectors.joining(", ")));
        out.flush();
        if (json != null) {
            ResultFile.write(json, rows);
        }
        return ExitCode.OK;
    }

    /** A study that was not run has left nothing at its usual place; but a file that the user names must be there. */
    private void requireNamedFiles() {
        for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
            if (option.getValue() instanceof Path file && file != json && !Files.isRegularFile(file)) {
                throw new UserErrorException(option.longestName() + ": there is no file " + file);
            }
        }
    }

    private List<LedgerRow> rows() {
        try {
            return Ledger.judge(LedgerSources.read(compare, counts, wimpy, perf, verbs, farm));
        } catch (MeasurementException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            throw new UserErrorException("results cannot be read: " + e.getMessage(), e);
        }
    }
}
