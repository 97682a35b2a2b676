package org.softrdma.bench.wimpy;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.softrdma.bench.study.MachineFacts;
import org.softrdma.bench.study.ReportText;

/** The results as text for a terminal: one block per cell, one line per system. */
final class WimpyTable {
    private static final String LINE = "%-34s %9s %9s %14s %9s %11s %8s %8s %9s %9s  %s%n";

    private final StudyResults results;

    WimpyTable(StudyResults results) {
        this.results = results;
    }

    void print(PrintWriter out) {
        WimpyPlan plan = results.plan();
        out.println();
        out.println(MachineFacts.line(results.machine()));
        out.printf(
                Locale.ROOT,
                "GETs over %s by %d connections of one load process; medians of %d interleaved rounds of %d ms.%n",
                results.network(),
                plan.clients(),
                plan.timing().rounds(),
                plan.timing().millis());
        out.println("Server CPU per GET: 'process' is the CPU time of the server's process without its compiler's,"
                + " 'spread' the least and the most of the rounds, 'core' all time that its core was not idle.");
        out.println("/ memcached: 'process' divided by that of memcached's cheapest form in the same block (*)."
                + " one-sided: READs per GET that the server's device counted; rows below 0.95 are marked.");
        results.slowing().ifPresent(slowing -> out.println("Throttled blocks: " + slowing.description() + "."));
        results.cells().forEach(cell -> printBlock(out, cell));
        if (!results.skipped().isEmpty()) {
            out.println();
        }
        results.skipped().forEach((system, reason) -> out.println("skipped: " + system + ": " + reason));
        out.println();
        out.println("errors: " + results.errors());
        WimpySummary summary = new WimpySummary(results);
        out.println(summary.answer());
        summary.warnings().forEach(warning -> out.println("warning: " + warning.text()));
        out.flush();
    }

    private void printBlock(PrintWriter out, WimpyRow first) {
        List<WimpyRow> block = results.cell(first);
        Optional<WimpyRow> baseline = results.cheapestMemcached(first);
        out.println();
        out.printf(
                LINE,
                results.title(first),
                "GETs/s",
                "process",
                "spread",
                "core",
                "/ memcached",
                "p50 us",
                "p99 us",
                "p99.9 us",
                "one-sided",
                "");
        for (WimpyRow row : block) {
            out.printf(
                    LINE,
                    row.system.label(),
                    row.text(WimpyRow.GETS_PER_SECOND, 0),
                    row.text(WimpyRow.SERVER_CPU, 2),
                    row.spreadText(WimpyRow.SERVER_CPU, 2),
                    ReportText.number(row.median(WimpyRow.SERVER_CORE), 2),
                    results.ratioText(row)
                            + (baseline.filter(cheapest -> cheapest == row).isPresent() ? "*" : " "),
                    ReportText.number(row.median(WimpyRow.P50), 1),
                    ReportText.number(row.median(WimpyRow.P99), 1),
                    ReportText.number(row.median(WimpyRow.P999), 1),
                    ReportText.number(row.median(WimpyRow.ONE_SIDED), 3),
                    notes(row, results.ratioToOtherBuild(row)));
        }
    }

    /** What is wrong with a row, and what this build costs beside another; empty if there is nothing to say. */
    private static String notes(WimpyRow row, Optional<Double> besideOther) {
        List<String> notes = new ArrayList<>();
        besideOther.ifPresent(ratio -> notes.add(ReportText.number(ratio, 2) + " of the other build"));
        if (row.errors > 0) {
            notes.add("ERRORS: " + row.errors);
        }
        if (row.isNotOneSided()) {
            notes.add("NOT ONE-SIDED");
        }
        return String.join(", ", notes);
    }
}
