package org.softrdma.bench.compare;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.function.Consumer;

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
}
