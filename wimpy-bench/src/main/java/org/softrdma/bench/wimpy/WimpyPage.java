package org.softrdma.bench.wimpy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.softrdma.bench.study.ChartPanels;
import org.softrdma.bench.study.MachineFacts;
import org.softrdma.bench.study.ReportPage;
import org.softrdma.bench.study.ReportText;
import org.softrdma.bench.study.RunWarning;

/** The results as a page for people: what the template {@code wimpy.html} needs. */
final class WimpyPage {
    private static final int PROFILED_FUNCTIONS = 8;

    private final StudyResults results;
    private final WimpySummary summary;
    private final WimpyCharts charts = new WimpyCharts();
    private final ObjectMapper mapper = new ObjectMapper();

    WimpyPage(StudyResults results) {
        this.results = results;
        summary = new WimpySummary(results);
    }

    private record Figure(String id, String title, String text, String caption, ChartPanels.Chart chart) {}

    /**
     * Writes the file.
     *
     * @param directory made when needed
     * @return where it is
     */
    Path write(Path directory) throws IOException {
        List<Figure> figures = figures();
        Map<String, Object> page = new LinkedHashMap<>();
        page.put("machineLine", MachineFacts.line(results.machine()));
        page.put("startedAt", results.startedAt());
        page.put("scenario", results.plan().scenario());
        page.put("warnings", summary.warnings().stream().map(RunWarning::text).toList());
        page.put("answer", summary.answer());
        page.put(
                "tiles",
                summary.tiles().stream()
                        .map(tile -> Map.of("what", tile.what(), "big", tile.big(), "detail", tile.detail()))
                        .toList());
        page.put("how", summary.how());
        page.put("limits", summary.limits());
        page.put(
                "figures",
                figures.stream()
                        .map(figure -> Map.of(
                                "id", figure.id(),
                                "title", figure.title(),
                                "text", figure.text(),
                                "caption", figure.caption(),
                                "height", figure.chart().height()))
                        .toList());
        page.put(
                "openNote",
                results.plan().openLoop()
                        ? " In blocks at half rate, GETs arrive at a constant rate, half of what the same"
                                + " row reached at full load, and latency counts from the intended start of a GET."
                        : "");
        page.put("blocks", results.cells().stream().map(this::block).toList());
        List<WimpyRow> profiled =
                results.rows().stream().filter(row -> row.profile != null).toList();
        page.put("hasProfiles", !profiled.isEmpty());
        page.put(
                "profiles",
                profiled.stream()
                        .map(row -> Map.of(
                                "title", results.title(row) + ": " + row.system.label(), "functions", functions(row)))
                        .toList());
        page.put("hasSkipped", !results.skipped().isEmpty());
        page.put(
                "skipped",
                results.skipped().entrySet().stream()
                        .map(entry -> Map.of("system", entry.getKey(), "reason", entry.getValue()))
                        .toList());
        page.put("machine", MachineFacts.of(results.machine()));
        ObjectNode options = mapper.createObjectNode();
        figures.forEach(figure -> options.set(figure.id(), figure.chart().option()));
        return ReportPage.write(
                directory, "What a GET costs the server: READ beside memcached", "wimpy.html", page, options);
    }

    private static List<Map<String, String>> functions(WimpyRow row) {
        return row.profile == null
                ? List.of()
                : row.profile.percents().entrySet().stream()
                        .limit(PROFILED_FUNCTIONS)
                        .map(each -> Map.of("name", each.getKey(), "percent", ReportText.number(each.getValue(), 1)))
                        .toList();
    }

    // ------------------------------------------------------------------------------------------------------- figures

    private List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        List<Integer> windows =
                results.plan().windows().stream().sorted((a, b) -> b - a).toList();
        for (int window : windows) {
            performance(window).ifPresent(figures::add);
        }
        for (int window : windows) {
            shares(window).ifPresent(figures::add);
        }
        cores().ifPresent(figures::add);
        links().ifPresent(figures::add);
        return figures;
    }

    private Optional<Figure> performance(int window) {
        List<List<List<WimpyRow>>> cells = new ArrayList<>();
        for (int length : results.plan().valueLengths()) {
            cells.add(closedCells(length, window, 1));
        }
        if (cells.stream().anyMatch(List::isEmpty)) {
            return Optional.empty();
        }
        return Optional.of(new Figure(
                "performance" + window,
                "GETs per second and what they cost, " + outstanding(window),
                "The paper's figure 7. Above: GETs per second of each system. Below: the server's CPU time"
                        + " per GET, which decides on a slow CPU; shorter is better.",
                results.slowing()
                        .filter(slowing -> cells.getFirst().size() > 1)
                        .map(slowing -> "Paler bars are slower servers: " + slowing.description() + ".")
                        .orElse("One core for the server, at full speed."),
                charts.performance(cells)));
    }

    private Optional<Figure> shares(int window) {
        List<List<WimpyRow>> cells = new ArrayList<>();
        for (int length : results.plan().valueLengths()) {
            closedCells(length, window, 1).stream()
                    .findFirst()
                    .map(rows ->
                            rows.stream().filter(row -> !row.shares.isEmpty()).toList())
                    .filter(rows -> !rows.isEmpty())
                    .ifPresent(cells::add);
        }
        if (cells.size() < results.plan().valueLengths().size()) {
            return Optional.empty();
        }
        return Optional.of(new Figure(
                "shares" + window,
                "Where the server's CPU goes, " + outstanding(window),
                "The paper's figure 8a. The paper splits it into network, application or RDMA stack, and"
                        + " the rest; the rounds measure only the border between kernel and user mode,"
                        + " which takes no profiler.",
                "Microseconds of the server's core per GET, averaged over all rounds. Application is"
                        + " parsing, hash table and event loop; with READ, only the processing of touch"
                        + " reports. Busy outside the process is interrupts and whatever else ran on that core.",
                charts.shares(cells)));
    }

    private Optional<Figure> cores() {
        List<Integer> counts = results.plan().coreCounts();
        List<List<List<WimpyRow>>> cells = new ArrayList<>();
        for (int length : results.plan().valueLengths()) {
            List<List<WimpyRow>> byCores = new ArrayList<>();
            for (int count : counts) {
                closedCells(length, results.plan().maxWindow(), count).stream()
                        .findFirst()
                        .ifPresent(byCores::add);
            }
            cells.add(byCores);
        }
        if (counts.size() < 2 || cells.stream().anyMatch(byCores -> byCores.size() < 2)) {
            return Optional.empty();
        }
        return Optional.of(new Figure(
                "cores",
                "More cores, " + outstanding(results.plan().maxWindow()),
                "The paper's figure 8b: as many threads as cores for every server.",
                "One core loads all of them: where lines are flat and equal, the load is the limit.",
                charts.lines(cells, "cores", row -> row.serverCores)));
    }

    private Optional<Figure> links() {
        List<List<List<WimpyRow>>> cells = new ArrayList<>();
        for (int length : results.plan().valueLengths()) {
            Map<Integer, List<WimpyRow>> bySpeed = new TreeMap<>();
            results.rows().stream()
                    .filter(row -> row.isOverLink() && row.valueLength == length)
                    .forEach(row -> bySpeed.computeIfAbsent(row.throttlePercent, percent -> new ArrayList<>())
                            .add(row));
            cells.add(List.copyOf(bySpeed.values()));
        }
        if (cells.stream().anyMatch(bySpeed -> bySpeed.size() < 2)) {
            return Optional.empty();
        }
        return Optional.of(new Figure(
                "links",
                "Slower servers at the end of a link, "
                        + outstanding(results.plan().maxWindow()),
                "The paper's figure 1: where the link is the limit, a slower server serves as many GETs; where it is"
                        + " not, it serves fewer.",
                results.slowing()
                        .map(slowing -> "For slower servers, " + slowing.description() + ".")
                        .orElse(""),
                charts.lines(cells, "speed of the server, %", row -> row.throttlePercent)));
    }

    /** The cells of one size, window and number of cores in closed loop, full speed first. */
    private List<List<WimpyRow>> closedCells(int length, int window, int coreCount) {
        return results.cells().stream()
                .filter(cell -> cell.valueLength == length
                        && cell.window == window
                        && cell.serverCores == coreCount
                        && !cell.isOverLink()
                        && !cell.isOpen())
                .map(results::cell)
                .toList();
    }

    private static String outstanding(int window) {
        return window + (window == 1 ? " GET" : " GETs") + " outstanding per connection";
    }

    // --------------------------------------------------------------------------------------------------------- table

    private Map<String, Object> block(WimpyRow first) {
        Optional<WimpyRow> baseline = results.cheapestMemcached(first);
        return Map.of(
                "title",
                results.title(first),
                "rows",
                results.cell(first).stream()
                        .map(row -> Map.of(
                                "system", row.system.label(),
                                "style", style(row, baseline),
                                "cells", cells(row)))
                        .toList());
    }

    private static String style(WimpyRow row, Optional<WimpyRow> baseline) {
        if (row.errors > 0 || row.isNotOneSided()) {
            return "wrong";
        }
        if (row.system.kind() == MeasuredSystem.Kind.SOFTRDMA_READ
                || row.system.kind() == MeasuredSystem.Kind.SOFTRDMA_SAME_HOST) {
            return "ours";
        }
        return baseline.filter(cheapest -> cheapest == row).isPresent() ? "base" : "";
    }

    private List<String> cells(WimpyRow row) {
        return List.of(
                row.text(WimpyRow.GETS_PER_SECOND, 0),
                row.spreadText(WimpyRow.GETS_PER_SECOND, 0),
                row.text(WimpyRow.SERVER_CPU, 2),
                row.spreadText(WimpyRow.SERVER_CPU, 2),
                ReportText.number(row.median(WimpyRow.SERVER_USER), 2),
                ReportText.number(row.median(WimpyRow.SERVER_SYSTEM), 2),
                ReportText.number(row.median(WimpyRow.SERVER_COMPILER), 2),
                ReportText.number(row.median(WimpyRow.SERVER_CORE), 2),
                results.ratioText(row),
                ReportText.number(row.median(WimpyRow.CLIENT_CPU), 2),
                ReportText.number(row.median(WimpyRow.P50), 1),
                ReportText.number(row.median(WimpyRow.P99), 1),
                ReportText.number(row.median(WimpyRow.P999), 1),
                ReportText.number(row.median(WimpyRow.ONE_SIDED), 3),
                Long.toString(row.errors));
    }
}
