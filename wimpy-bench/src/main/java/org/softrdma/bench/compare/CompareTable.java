package org.softrdma.bench.compare;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.softrdma.bench.study.MachineFacts;
import org.softrdma.bench.study.ReportText;
import org.softrdma.stores.StoreCounter;

/** The results as text for a terminal: one block per cell, one line per system. */
final class CompareTable {
    private static final int MOST_RETRIES = 3;

    private final CompareResults results;
    private final boolean counted;

    CompareTable(CompareResults results) {
        this.results = results;
        counted = results.conditions().onFabric();
    }

    void print(PrintWriter out) {
        CompareResults.Conditions conditions = results.conditions();
        out.println();
        Optional.ofNullable(results.machine()).map(MachineFacts::line).ifPresent(out::println);
        if (counted) {
            out.printf(
                    Locale.ROOT,
                    "Counts on the fabric, seed %d: %d operations per row by %d connections, %d pairs.%n",
                    conditions.seed(),
                    conditions.operations(),
                    conditions.connections(),
                    conditions.pairs());
        } else {
            out.printf(
                    Locale.ROOT,
                    "Over %s by %d connections of one load process, %d pairs; medians of %d interleaved rounds of"
                            + " %d ms.%n",
                    conditions.network(),
                    conditions.connections(),
                    conditions.pairs(),
                    conditions.rounds(),
                    conditions.roundMillis());
            out.println("Server CPU per operation in microseconds: 'process' is the CPU time of the server's process"
                    + " without its compiler's, 'spread' the least and the most of the rounds, 'core' all time"
                    + " that its core was not idle. Latency of GETs in microseconds.");
        }
        out.println("Messages are those of the verbs, or requests and answers, in both directions.");
        results.cells().forEach(cell -> printBlock(out, cell));
        printWorkers(out);
        printNodes(out);
        printHotKeys(out);
        out.println();
        results.skipped().forEach((system, reason) -> out.println("skipped: " + system + ": " + reason));
        results.failed().forEach((system, reason) -> out.println("FAILED: " + system + ": " + reason));
        printJudgements(out);
        out.println("errors: " + results.errors());
        CompareSummary summary = new CompareSummary(results);
        out.println(summary.answer());
        summary.warnings().forEach(warning -> out.println("warning: " + warning.text()));
        out.flush();
    }

    private void printBlock(PrintWriter out, CompareRow first) {
        out.println();
        if (counted) {
            line(out, first.title(), "READs", "READ bytes", "WRITEs", "SENDs", "atomics", "messages", "trips", "");
        } else {
            line(out, first.title(), "ops/s", "process", "spread", "core", "client", "messages", "p50, p99", "");
        }
        for (CompareRow row : results.cell(first)) {
            if (counted) {
                line(
                        out,
                        row.system(),
                        count(row, StoreCounter.READS),
                        row.count(StoreCounter.READ_BYTES) == 0
                                ? ""
                                : ReportText.number(row.count(StoreCounter.READ_BYTES), 0),
                        count(row, StoreCounter.WRITES),
                        count(row, StoreCounter.SENDS),
                        count(row, StoreCounter.ATOMICS),
                        ReportText.number(row.messages(), 2),
                        count(row, StoreCounter.ROUND_TRIPS),
                        notes(row));
            } else {
                line(
                        out,
                        row.system(),
                        row.text(CompareRow.PER_SECOND, 0),
                        row.text(CompareRow.SERVER_CPU, 2),
                        row.spreadText(CompareRow.SERVER_CPU, 2),
                        ReportText.number(row.value(CompareRow.SERVER_CORE), 2),
                        ReportText.number(row.value(CompareRow.CLIENT_CPU), 2),
                        ReportText.number(row.messages(), 2),
                        ReportText.number(row.value(CompareRow.GET_P50), 0) + ", "
                                + ReportText.number(row.value(CompareRow.GET_P99), 0),
                        notes(row));
            }
        }
    }

    private void printWorkers(PrintWriter out) {
        if (results.workers().isEmpty()) {
            return;
        }
        out.println();
        out.print(String.format("%-40s", "ops/s beside CPU workers on its core"));
        results.workerCounts().forEach(count -> out.print(String.format(" %10d", count)));
        out.println();
        for (WorkersRow row : results.workers()) {
            if (row.workers() == 0) {
                out.print(String.format("%-40s", row.system() + (row.raised() ? ", RNIC first" : "")));
                results.workerCounts()
                        .forEach(count -> out.print(String.format(
                                " %10s",
                                ReportText.number(results.besideWorkers(row.system(), row.raised(), count), 0))));
                out.println();
            }
        }
    }

    private void printNodes(PrintWriter out) {
        if (results.nodes().isEmpty()) {
            return;
        }
        out.println();
        out.println("Nessie on several nodes, per operation; 'far' are READs of other nodes than the worker's own.");
        out.println(String.format(
                "%-40s %10s %10s %10s %10s %10s", "", "words", "READs", "far READs", "cache hits", "conflicts"));
        for (NodesRow row : results.nodes()) {
            out.println(String.format(
                            "%-40s %10s %10s %10s %10s %10s",
                            row.title(),
                            ReportText.number(row.count(StoreCounter.PROBES), 3),
                            ReportText.number(row.count(StoreCounter.READS), 3),
                            row.far(NodesRow.FAR_READS, 3),
                            ReportText.number(row.count(StoreCounter.CACHE_HITS), 3),
                            ReportText.number(row.count(StoreCounter.CONFLICTS), 3))
                    + (row.failures() == 0 ? "" : "  ERRORS: " + row.errors()));
        }
    }

    private void printHotKeys(PrintWriter out) {
        if (results.hotKeys().isEmpty()) {
            return;
        }
        out.println();
        out.println("Pilaf's GETs that READ again because a PUT of their key came between, with half PUTs, per GET.");
        out.println(String.format("%-40s %10s %10s", "", "entries", "extents"));
        for (HotKeysRow row : results.hotKeys()) {
            out.println(String.format(
                            "%-40s %10s %10s",
                            row.keys() + " keys",
                            ReportText.number(row.entryRetries(), 4),
                            ReportText.number(row.extentRetries(), 4))
                    + (row.failures() == 0 ? "" : "  ERRORS: " + row.errors()));
        }
    }

    private static void line(PrintWriter out, String title, String... cells) {
        out.println(String.format(
                        "%-36s %10s %10s %14s %9s %9s %9s %12s  %s",
                        title, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7])
                .stripTrailing());
    }

    private static String count(CompareRow row, StoreCounter counter) {
        return row.count(counter) == 0 ? "" : ReportText.number(row.count(counter), 3);
    }

    /** What is wrong with a row, and why it had to ask again. */
    private static String notes(CompareRow row) {
        String retries = row.retries().entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .limit(MOST_RETRIES)
                .map(entry -> String.format(Locale.ROOT, "%s %.4f", entry.getKey(), entry.getValue()))
                .collect(Collectors.joining(", "));
        return row.failures() == 0 ? retries : "ERRORS: " + row.errors() + " " + retries;
    }

    private void printJudgements(PrintWriter out) {
        CompareSummary summary = new CompareSummary(results);
        List<Judgement> claims = counted ? summary.countedClaims() : summary.claims();
        if (!claims.isEmpty()) {
            out.println("claims of papers, and what was found:");
        }
        for (Judgement each : claims) {
            out.println("  " + each.subject() + ": " + each.verdict().words()
                    + (each.found().isEmpty() ? "" : "; claimed " + each.said() + "; found " + each.found())
                    + (each.because().isEmpty() ? "" : "; " + each.because()));
        }
    }
}
