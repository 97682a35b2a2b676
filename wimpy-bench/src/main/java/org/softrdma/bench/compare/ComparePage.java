package org.softrdma.bench.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.softrdma.bench.study.ChartPanels;
import org.softrdma.bench.study.MachineFacts;
import org.softrdma.bench.study.ReportPage;
import org.softrdma.bench.study.ReportText;
import org.softrdma.bench.study.RunWarning;
import org.softrdma.bench.workload.Mix;
import org.softrdma.stores.StoreCounter;

/** The results as a page for people: what the template {@code compare.html} needs, from results.json alone. */
public final class ComparePage {
    private static final String TITLE = "Stores of four papers, and others, side by side";

    private final CompareResults results;
    private final CompareSummary summary;
    private final boolean counted;

    /** A page of some results. */
    public ComparePage(CompareResults results) {
        this.results = results;
        summary = new CompareSummary(results);
        counted = results.conditions().onFabric();
    }

    private record Figure(String id, String title, String text, ChartPanels.Chart chart) {}

    /**
     * Writes the file.
     *
     * @param directory made when needed
     * @return where it is
     */
    public Path write(Path directory) throws IOException {
        List<Figure> figures = figures();
        CompareResults.Conditions conditions = results.conditions();
        Map<String, Object> page = new LinkedHashMap<>();
        page.put("startedAt", results.startedAt());
        page.put("scenario", results.scenario());
        page.put("counted", counted);
        page.put("conditions", conditions);
        page.put("keys", keys(conditions));
        page.put("warnings", summary.warnings().stream().map(RunWarning::text).toList());
        page.put(
                "machineLine",
                Optional.ofNullable(results.machine()).map(MachineFacts::line).orElse("simulated"));
        page.put("answer", summary.answer());
        page.put("errors", results.errors());
        page.put(
                "mixes",
                results.rows().stream()
                        .map(CompareRow::mix)
                        .distinct()
                        .sorted()
                        .map(letter -> Map.of(
                                "letter", letter, "text", Mix.named(letter).description()))
                        .toList());
        page.put(
                "figures",
                figures.stream()
                        .map(figure -> Map.of(
                                "id", figure.id(),
                                "title", figure.title(),
                                "text", figure.text(),
                                "height", figure.chart().height()))
                        .toList());
        page.put("systems", SystemTexts.of(results));
        page.put("hasWorkers", !results.workers().isEmpty());
        page.put("workerCounts", results.workerCounts());
        page.put("workers", workers());
        page.put("workersClaims", judgements(summary.workersClaims()));
        page.put("hasNodes", !results.nodes().isEmpty());
        page.put("nodes", results.nodes().stream().map(ComparePage::nodes).toList());
        page.put("hasHotKeys", !results.hotKeys().isEmpty());
        page.put("hotKeys", results.hotKeys().stream().map(ComparePage::hotKeys).toList());
        page.put("countedClaims", judgements(summary.countedClaims()));
        page.put("hasJudgements", !counted);
        page.put("claims", judgements(summary.claims()));
        page.put(
                "promises",
                results.promises().stream().map(ComparePage::promises).toList());
        page.put("blocks", results.cells().stream().map(this::block).toList());
        page.put("retries", retries());
        page.put("left", left());
        page.put("hasLeft", !results.skipped().isEmpty() || !results.failed().isEmpty());
        page.put(
                "machine",
                Optional.ofNullable(results.machine()).map(MachineFacts::of).orElse(List.of()));
        ObjectNode options = new ObjectMapper().createObjectNode();
        figures.forEach(figure -> options.set(figure.id(), figure.chart().option()));
        return ReportPage.write(directory, TITLE, "compare.html", page, options);
    }

    private static String keys(CompareResults.Conditions conditions) {
        return conditions.skew() == 0
                ? "all keys alike"
                : "keys by Zipf's law with skew " + ReportText.number(conditions.skew(), 2);
    }

    // ---- figures

    private List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        List<Integer> sizes =
                results.rows().stream().map(CompareRow::valueBytes).distinct().toList();
        List<Integer> windows = results.rows().stream()
                .map(CompareRow::window)
                .distinct()
                .sorted((a, b) -> b - a)
                .toList();
        for (int size : sizes) {
            for (int window : windows) {
                List<List<CompareRow>> cells = cells(size, window);
                if (!cells.isEmpty()) {
                    String load = ReportText.size(size) + " values, " + window + " outstanding per connection";
                    addTo(figures, cells, size + "x" + window, load, window == windows.getFirst());
                }
            }
        }
        if (!results.workers().isEmpty()) {
            figures.add(new Figure(
                    "workers",
                    "Beside other work on the server's core",
                    "CPU workers hash without end on the core of the server. What is left of each design's rate; 1 is"
                            + " the rate without workers. The RNIC is a thread of that core: with usual priority it shares"
                            + " it, with raised priority it comes first, as a network card would.",
                    WorkersChart.of(results)));
        }
        return figures;
    }

    private void addTo(List<Figure> figures, List<List<CompareRow>> cells, String id, String load, boolean widest) {
        if (!counted) {
            figures.add(new Figure(
                    "cpu" + id,
                    "Where the server's CPU goes: " + load,
                    "Microseconds of the server's core per operation; shorter is better. The application is the store:"
                            + " with READs it has nothing to do, but the RNIC is software and works on the same core.",
                    CompareCharts.serverCpu(cells)));
        }
        if (widest) {
            figures.add(new Figure(
                    "messages" + id,
                    "Messages per operation: " + load,
                    "In both directions, retries included. A READ is two: a request, and an answer that the RNIC gives"
                            + " without the store.",
                    CompareCharts.messages(cells)));
        }
        if (widest && !counted) {
            figures.add(new Figure(
                    "bytes" + id,
                    "Bytes per operation: " + load,
                    "What crossed the loopback interface in both directions, with all headers.",
                    CompareCharts.bytes(cells)));
            figures.add(new Figure(
                    "client" + id,
                    "CPU of the client: " + load,
                    "Microseconds of the load's core per operation. It spins, so this is what is left of a second when"
                            + " the server is the limit, and what an operation costs when the client is.",
                    CompareCharts.clientCpu(cells)));
        }
        if (!counted) {
            figures.add(new Figure(
                    "latency" + id,
                    "Latency: " + load,
                    "From the start of an operation to its result, flat out: with more outstanding each waits longer.",
                    CompareCharts.latency(cells)));
        }
        if (widest) {
            figures.add(new Figure(
                    "memory" + id,
                    "Memory per pair: " + load,
                    "What the server says that it holds. memcached and redis register nothing.",
                    CompareCharts.memory(cells.subList(0, 1))));
        }
    }

    /** By mix, GETs only first. */
    private List<List<CompareRow>> cells(int size, int window) {
        return results.rows().stream()
                .map(CompareRow::mix)
                .distinct()
                .sorted((a, b) -> Mix.named(b).getPercent() - Mix.named(a).getPercent())
                .map(mix -> results.cell(size, window, mix))
                .filter(cell -> !cell.isEmpty())
                .toList();
    }

    // ---- tables

    private static List<Map<String, String>> judgements(List<Judgement> list) {
        return list.stream()
                .map(each -> Map.of(
                        "subject", each.subject(),
                        "said", each.said(),
                        "found", each.found(),
                        "verdict", each.verdict().words(),
                        "style", each.verdict().name().toLowerCase(Locale.ROOT),
                        "because", each.because()))
                .toList();
    }

    private static Map<String, String> promises(CompareResults.DesignPromises promises) {
        return Map.of(
                "design", promises.design(),
                "paper", promises.paper(),
                "linearizable", yes(promises.linearizable()),
                "provesMiss", yes(promises.provesMiss()),
                "gets", yes(promises.getsWithoutServer()),
                "puts", yes(promises.putsWithoutServer()),
                "death", yes(promises.survivesClientDeath()),
                "lossy", yes(promises.lossy()));
    }

    private static String yes(boolean kept) {
        return kept ? "yes" : "no";
    }

    private Map<String, Object> block(CompareRow first) {
        return Map.of(
                "title",
                first.title(),
                "rows",
                results.cell(first).stream()
                        .map(row -> Map.of(
                                "system", row.system(), "style", style(row), "cells", counted ? counts(row) : all(row)))
                        .toList());
    }

    private static String style(CompareRow row) {
        return row.failures() > 0 ? "wrong" : row.kind() == SystemKind.DESIGN ? "ours" : "";
    }

    private static List<String> all(CompareRow row) {
        List<String> cells = new ArrayList<>(List.of(
                row.text(CompareRow.PER_SECOND, 0),
                row.spreadText(CompareRow.PER_SECOND, 0),
                row.text(CompareRow.SERVER_CPU, 2),
                row.spreadText(CompareRow.SERVER_CPU, 2),
                ReportText.number(row.value(CompareRow.SERVER_COMPILER), 2),
                ReportText.number(row.value(CompareRow.SERVER_CORE), 2),
                ReportText.number(row.value(CompareRow.CLIENT_CPU), 2)));
        cells.addAll(counts(row));
        cells.addAll(List.of(
                ReportText.number(row.value(CompareRow.PACKETS), 2),
                ReportText.number(row.value(CompareRow.WIRE_BYTES), 0),
                ReportText.number(row.value(CompareRow.SERVER_HEAP), 1),
                ReportText.number(row.value(CompareRow.CLIENT_HEAP), 1),
                ReportText.number(row.value(CompareRow.GET_P50), 1),
                ReportText.number(row.value(CompareRow.GET_P99), 1),
                ReportText.number(row.value(CompareRow.PUT_P50), 1),
                ReportText.number(row.value(CompareRow.PUT_P99), 1)));
        return cells;
    }

    private static List<String> counts(CompareRow row) {
        return List.of(
                Long.toString(row.failures()),
                ReportText.number(row.count(StoreCounter.READS), 3),
                ReportText.number(row.count(StoreCounter.WRITES), 3),
                ReportText.number(row.count(StoreCounter.SENDS), 3),
                ReportText.number(row.count(StoreCounter.ATOMICS), 3),
                ReportText.number(row.messages(), 2),
                ReportText.number(row.count(StoreCounter.ROUND_TRIPS), 3));
    }

    /** A row for each design and priority: the rate beside each number of workers. */
    private List<Map<String, Object>> workers() {
        List<Map<String, Object>> list = new ArrayList<>();
        for (WorkersRow row : results.workers()) {
            if (row.workers() == 0) {
                list.add(Map.of(
                        "system",
                        row.system() + (row.raised() ? ", RNIC first" : ""),
                        "cells",
                        results.workerCounts().stream()
                                .map(count -> beside(row, count))
                                .toList()));
            }
        }
        return list;
    }

    private String beside(WorkersRow row, int count) {
        return ReportText.number(results.besideWorkers(row.system(), row.raised(), count), 0) + " ("
                + ReportText.number(results.partBesideWorkers(row.system(), row.raised(), count), 2) + ")";
    }

    private static Map<String, Object> nodes(NodesRow row) {
        return Map.of(
                "title",
                row.title(),
                "style",
                row.failures() > 0 ? "wrong" : "",
                "cells",
                List.of(
                        ReportText.number(row.count(StoreCounter.PROBES), 3),
                        ReportText.number(row.count(StoreCounter.READS), 3),
                        row.far(NodesRow.FAR_READS, 3),
                        row.far(NodesRow.FAR_READ_BYTES, 0),
                        ReportText.number(row.count(StoreCounter.CACHE_HITS), 3),
                        ReportText.number(row.count(StoreCounter.CONFLICTS), 3)));
    }

    private static Map<String, Object> hotKeys(HotKeysRow row) {
        return Map.of(
                "keys",
                Integer.toString(row.keys()),
                "style",
                row.failures() > 0 ? "wrong" : "",
                "entries",
                ReportText.number(row.entryRetries(), 4),
                "extents",
                ReportText.number(row.extentRetries(), 4));
    }

    private List<Map<String, String>> retries() {
        Function<CompareRow, String> text = row -> row.retries().entrySet().stream()
                .map(entry -> String.format(Locale.ROOT, "%s %.5f", entry.getKey(), entry.getValue()))
                .collect(Collectors.joining(", "));
        return results.rows().stream()
                .filter(row -> !row.retries().isEmpty() || row.counts().containsKey(CompareTally.MISSES))
                .map(row -> Map.of(
                        "system", row.system(),
                        "title", row.title(),
                        "text", text.apply(row),
                        "misses",
                                String.format(
                                        Locale.ROOT, "%.5f", row.counts().getOrDefault(CompareTally.MISSES, 0.0))))
                .toList();
    }

    private List<Map<String, String>> left() {
        List<Map<String, String>> list = new ArrayList<>();
        results.skipped().forEach((system, reason) -> list.add(Map.of("system", system, "reason", reason)));
        results.failed().forEach((system, reason) -> list.add(Map.of("system", system, "reason", "failed: " + reason)));
        return list;
    }
}
