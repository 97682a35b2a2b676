package org.softrdma.bench.wimpy;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.study.ChartPanels;
import org.softrdma.bench.study.ReportText;
import org.softrdma.bench.workload.TcpCommands;

/**
 * The figures of the report as options of Apache ECharts: small multiples, a column for each value size, a line for each
 * system. Figures are named after those of the paper.
 */
final class WimpyCharts {
    private static final int TOP = 64;
    private static final int BOTTOM = 36;
    private static final int PANEL_GAP = 62;
    private static final int BAR_HEIGHT = ChartPanels.BAR_HEIGHT;
    private static final int LINE_GAP = 10;
    private static final double THOUSAND = 1e3;
    /** Of memcached, by how it is asked. */
    private static final Map<String, String> MEMCACHED_COLOURS = Map.of(
            TcpCommands.META.getLabel(), "#c8591b",
            TcpCommands.CLASSIC.getLabel(), "#e58e5a",
            TcpCommands.MULTI_KEY.getLabel(), "#f0b78f",
            TcpCommands.BINARY.getLabel(), "#8f3f10");

    /** Full speed, and slower and slower. */
    private static final List<Double> OPACITIES = List.of(1.0, 0.6, 0.35, 0.2);

    private static final List<Part> PARTS = List.of(
            new Part("kernel (system calls, TCP)", "#e0a030", row -> row.shares.kernel()),
            new Part("RNIC, user mode", "#0b7a75", row -> row.shares.rnic()),
            new Part("application, user mode", "#7fb5d5", row -> row.shares.application()),
            new Part("JVM (compiler, collector)", "#8e6bb0", row -> row.shares.virtualMachine()),
            new Part("core busy outside the process", "#b8c2cc", WimpyCharts::outside));

    /** One share of the server's CPU. */
    private record Part(String name, String colour, ToDoubleFunction<WimpyRow> micros) {}

    /** What one row of panels shows. */
    private record Metric(String name, String figure, double unit) {
        /** Nothing if the rounds lie too far apart. */
        double value(WimpyRow row) {
            return row.isNoisy(figure) ? Double.NaN : row.median(figure) / unit;
        }

        Optional<MedianOfRounds.Spread> spread(WimpyRow row) {
            return row.rounds
                    .spread(figure)
                    .map(spread -> new MedianOfRounds.Spread(spread.least() / unit, spread.most() / unit));
        }
    }

    private static final List<Metric> PERFORMANCE = List.of(
            new Metric("thousand GETs/s", WimpyRow.GETS_PER_SECOND, THOUSAND),
            new Metric("server CPU, \u00b5s per GET", WimpyRow.SERVER_CPU, 1));

    /**
     * GETs per second and server CPU per GET: the paper's figure 7.
     *
     * @param cells by value size, of each by speed: the rows of all systems at full speed, then those of slower servers
     */
    ChartPanels.Chart performance(List<List<List<WimpyRow>>> cells) {
        List<String> speeds = new ArrayList<>();
        cells.getFirst().forEach(rows -> speeds.add(rows.getFirst().throttlePercent + " % speed"));
        List<String> names = names(cells.stream().flatMap(List::stream).toList());
        ChartPanels.Columns columns = ChartPanels.Columns.named(cells.size(), names);
        int panel = panelHeight(names.size(), speeds.size());
        ObjectNode option = ChartPanels.frame(speeds.size() > 1 ? speeds : List.of());
        for (int line = 0; line < PERFORMANCE.size(); line++) {
            Metric metric = PERFORMANCE.get(line);
            for (int column = 0; column < cells.size(); column++) {
                List<List<WimpyRow>> bySpeed = cells.get(column);
                WimpyRow first = bySpeed.getFirst().getFirst();
                String title = line == 0 ? ReportText.size(first.valueLength) : "";
                int index = ChartPanels.panel(option, columns, column, TOP + line * (panel + PANEL_GAP), panel, title);
                ChartPanels.axes(option, index, names, column == 0, metric.name());
                List<Double> values = new ArrayList<>();
                for (int speed = 0; speed < bySpeed.size(); speed++) {
                    ObjectNode series = ChartPanels.series(option, index, speeds.get(speed));
                    series.put("color", speed == 0 ? "#6b7783" : "#aab4be");
                    ArrayNode data = series.putArray("data");
                    for (Optional<WimpyRow> row : inOrder(names, bySpeed.get(speed))) {
                        double value = row.map(metric::value).orElse(Double.NaN);
                        values.add(value);
                        ObjectNode bar = ChartPanels.bar(data, value);
                        bar.putObject("itemStyle")
                                .put(
                                        "color",
                                        row.map(each -> colour(each.system)).orElse(""))
                                .put("opacity", OPACITIES.get(Math.min(speed, OPACITIES.size() - 1)));
                    }
                }
                ChartPanels.scale(option, index, values);
            }
        }
        for (int line = 0; line < PERFORMANCE.size(); line++) {
            Metric metric = PERFORMANCE.get(line);
            for (int column = 0; column < cells.size(); column++) {
                ChartPanels.whiskers(option, line * cells.size() + column, spreads(names, cells.get(column), metric));
            }
        }
        return new ChartPanels.Chart(option, TOP + PERFORMANCE.size() * panel + PANEL_GAP + BOTTOM);
    }

    /** By name, of each by speed. */
    private static List<List<Optional<MedianOfRounds.Spread>>> spreads(
            List<String> names, List<List<WimpyRow>> bySpeed, Metric metric) {
        return names.stream()
                .map(name -> bySpeed.stream()
                        .map(rows -> find(rows, name).flatMap(metric::spread))
                        .toList())
                .toList();
    }

    private static List<String> names(List<List<WimpyRow>> panels) {
        return ChartPanels.names(panels.stream()
                .map(rows -> rows.stream().map(row -> row.system.label()).toList())
                .toList());
    }

    /** The row of each name, or none. */
    private static List<Optional<WimpyRow>> inOrder(List<String> names, List<WimpyRow> rows) {
        return names.stream().map(name -> find(rows, name)).toList();
    }

    private static Optional<WimpyRow> find(List<WimpyRow> rows, String name) {
        return rows.stream().filter(row -> row.system.label().equals(name)).findFirst();
    }

    /**
     * Where the server's CPU went: the paper's figure 8a.
     *
     * @param cells by value size: the rows of all systems
     */
    ChartPanels.Chart shares(List<List<WimpyRow>> cells) {
        List<String> names = names(cells);
        ChartPanels.Columns columns = ChartPanels.Columns.named(cells.size(), names);
        int panel = panelHeight(names.size(), 1);
        ObjectNode option = ChartPanels.frame(PARTS.stream().map(Part::name).toList());
        for (int column = 0; column < cells.size(); column++) {
            List<WimpyRow> rows = cells.get(column);
            int index = ChartPanels.panel(
                    option, columns, column, TOP, panel, ReportText.size(rows.getFirst().valueLength));
            ChartPanels.axes(option, index, names, column == 0, "\u00b5s per GET");
            for (Part part : PARTS) {
                ObjectNode series = ChartPanels.series(option, index, part.name());
                // One name for each panel: the library adds up what has the same name, whatever its axes are.
                series.put("stack", "cpu" + index).put("color", part.colour());
                ((ObjectNode) series.get("label")).put("show", false);
                ArrayNode data = series.putArray("data");
                for (Optional<WimpyRow> row : inOrder(names, rows)) {
                    ObjectNode ignored = ChartPanels.bar(
                            data, row.map(part.micros()::applyAsDouble).orElse(Double.NaN));
                }
            }
        }
        return new ChartPanels.Chart(option, TOP + panel + BOTTOM + PANEL_GAP / 2);
    }

    /**
     * GETs per second by something that grows: the paper's figure 8b by cores of the server, figure 1 by its speed.
     *
     * @param cells by value size, of each by what grows: rows, each of which is on a line of its own
     * @param axis what grows
     * @param value how much of it a row has
     */
    ChartPanels.Chart lines(List<List<List<WimpyRow>>> cells, String axis, ToIntFunction<WimpyRow> value) {
        int panel = 240;
        List<WimpyRow> firsts = cells.getFirst().getFirst();
        int fastestLink =
                firsts.stream().mapToInt(row -> row.linkMegabits).max().orElse(0);
        ObjectNode option =
                ChartPanels.frame(firsts.stream().map(WimpyRow::label).toList());
        for (int column = 0; column < cells.size(); column++) {
            List<List<WimpyRow>> growing = cells.get(column);
            String title = ReportText.size(growing.getFirst().getFirst().valueLength);
            int index = ChartPanels.panel(
                    option, ChartPanels.Columns.numbered(cells.size()), column, TOP + PANEL_GAP, panel, title);
            ArrayNode ticks = option.withArray("xAxis")
                    .addObject()
                    .put("gridIndex", index)
                    .put("type", "category")
                    .put("name", axis)
                    .put("nameLocation", "middle")
                    .put("nameGap", 26)
                    .putArray("data");
            growing.forEach(rows -> ticks.add(Integer.toString(value.applyAsInt(rows.getFirst()))));
            option.withArray("yAxis")
                    .addObject()
                    .put("gridIndex", index)
                    .put("type", "value")
                    .put("min", 0)
                    .put("nameLocation", "middle")
                    .put("nameGap", 46)
                    .put("name", column == 0 ? "thousand GETs/s" : "");
            for (WimpyRow first : growing.getFirst()) {
                ObjectNode series = option.withArray("series")
                        .addObject()
                        .put("type", "line")
                        .put("name", first.label())
                        .put("color", colour(first.system))
                        .put("xAxisIndex", index)
                        .put("yAxisIndex", index);
                series.putObject("lineStyle").put("type", first.linkMegabits < fastestLink ? "dashed" : "solid");
                ArrayNode data = series.putArray("data");
                for (List<WimpyRow> rows : growing) {
                    rows.stream()
                            .filter(row -> row.label().equals(first.label()))
                            .findFirst()
                            .ifPresentOrElse(
                                    row -> data.add(
                                            ChartPanels.rounded(row.median(WimpyRow.GETS_PER_SECOND) / THOUSAND)),
                                    data::addNull);
                }
            }
        }
        return new ChartPanels.Chart(option, TOP + PANEL_GAP + panel + BOTTOM + PANEL_GAP / 2);
    }

    private static double outside(WimpyRow row) {
        double compiler = row.median(WimpyRow.SERVER_COMPILER);
        double outside = row.median(WimpyRow.SERVER_CORE)
                - row.median(WimpyRow.SERVER_CPU)
                - (Double.isNaN(compiler) ? 0 : compiler);
        return Double.isNaN(outside) ? 0 : Math.max(0, outside);
    }

    private static int panelHeight(int systems, int bars) {
        return systems * (bars * BAR_HEIGHT + LINE_GAP);
    }

    private static String colour(MeasuredSystem system) {
        return switch (system.kind()) {
            case MEMCACHED -> MEMCACHED_COLOURS.getOrDefault(system.protocol(), "#f0b78f");
            case MEMCACHED_TLS -> "#b58a3c";
            case REDIS -> "#a4243b";
            case SOFTRDMA_TCP ->
                system.protocol().startsWith(TcpCommands.BINARY.getLabel())
                        ? "#3d7678"
                        : system.protocol().endsWith("epoll") ? "#8fbcbe" : "#5f9ea0";
            case SOFTRDMA_TLS -> "#7f9f4f";
            case SOFTRDMA_READ ->
                system.protocol().endsWith("chunk")
                        ? "#2f9c8f"
                        : system.protocol().endsWith("epoll") ? "#123f3c" : "#0b7a75";
            case SOFTRDMA_SAME_HOST -> "#6b4fa0";
            case FLOOR -> "#4a5560";
        };
    }
}
