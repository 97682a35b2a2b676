package org.softrdma.bench.compare;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.softrdma.bench.study.RunWarning;

/** Leaves results: a table on the terminal, results.json, report.html. */
public final class CompareReport {
    private CompareReport() {}

    /**
     * Writes all three.
     *
     * @param results what was found
     * @param out where the table goes
     * @param directory where the files go
     * @param said told where they are
     */
    public static void write(CompareResults results, PrintWriter out, Path directory, Consumer<String> said)
            throws IOException {
        new CompareTable(results).print(out);
        said.accept("results: " + CompareJson.write(results, directory));
        said.accept("report:  " + new ComparePage(results).write(directory));
    }

    /** Why nothing can be judged by some results: what they warn of themselves; empty if something can. */
    public static List<String> spoilt(CompareResults results) {
        return RunWarning.spoiling(new CompareSummary(results).warnings());
    }
}
