package org.softrdma.bench.wimpy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.softrdma.bench.load.GetCommand;
import org.softrdma.bench.study.ReportText;

/**
 * The figures of the report as options of Apache ECharts: small multiples, a column for each value size, a line for each
 * system. Figures are named after those of the paper.
 */
final class WimpyCharts {
    private static final int LABELS_WIDTH_PERCENT = 21;
    private static final int TOP = 64;
    private static final int BOTTOM = 36;
    private static final int PANEL_GAP = 62;
    private static final int GAP_PERCENT = 4;
    private static final int BAR_HEIGHT = 17;
    private static final int LINE_GAP = 10;
    private static final double THOUSAND = 1e3;
    private static final String INK = "#1d2733";
    private static final String SOFT = "#5b6875";
    private static final String NONE = "transparent";
    /** Full speed, and slower and slower. */
    private static final List<Double> OPACITIES = List.of(1.0, 0.6, 0.35, 0.2);

    private static final List<Part> PARTS = List.of(
            new Part("kernel (system calls, TCP)", "#e0a030", row -> row.shares.kernel()),
            new Part("RNIC, user mode", "#0b7a75", row -> row.shares.rnic()),
            new Part("application, user mode", "#7fb5d5", row -> row.shares.application()),
            new Part("JVM (compiler, collector)", "#8e6bb0", row -> row.shares.virtualMachine()),
            new Part("core busy outside the process", "#b8c2cc", WimpyCharts::outside));

    private final ObjectMapper mapper = new ObjectMapper();

    /**
     * A figure.
     *
     * @param option for ECharts
     * @param height pixels
     */
    record Chart(ObjectNode option, int height) {}

    /** One share of the server's CPU. */
    private record Part(String name, String colour, ToDoubleFunction<WimpyRow> micros) {}

    /** What one row of panels shows. */
    private record Metric(String name, ToDoubleFunction<WimpyRow> value) {}

    private static final List<Metric> PERFORMANCE = List.of(
            new Metric("thousand GETs/s", row -> row.median(WimpyRow.GETS_PER_SECOND) / THOUSAND),
            new Metric("server CPU, \u00b5s per GET", row -> row.median(WimpyRow.SERVER_CPU)));

    /**
     * GETs per second and server CPU per GET: the paper's figure 7.
     *
     * @param cells by value size, of each by speed: the rows of all systems at full speed, then those of slower servers
     */
    Chart performance(List<List<List<WimpyRow>>> cells) {
        List<String> speeds = new ArrayList<>();
        cells.getFirst().forEach(rows -> speeds.add(rows.getFirst().throttlePercent + " % speed"));
        int panel = panelHeight(cells.getFirst().getFirst().size(), speeds.size());
        ObjectNode option = frame(speeds.size() > 1 ? speeds : List.of());
        for (int line = 0; line < PERFORMANCE.size(); line++) {
            Metric metric = PERFORMANCE.get(line);
            for (int column = 0; column < cells.size(); column++) {
                List<List<WimpyRow>> bySpeed = cells.get(column);
                WimpyRow first = bySpeed.getFirst().getFirst();
                String title = line == 0 ? ReportText.size(first.valueLength) : "";
                int index = panel(option, cells.size(), column, TOP + line * (panel + PANEL_GAP), panel, title);
                axes(option, index, bySpeed.getFirst(), column == 0, metric.name());
                for (int speed = 0; speed < bySpeed.size(); speed++) {
                    ObjectNode series = series(option, index, speeds.get(speed));
                    series.put("color", speed == 0 ? "#6b7783" : "#aab4be");
                    ArrayNode data = series.putArray("data");
                    for (WimpyRow row : bySpeed.get(speed)) {
                        ObjectNode bar = bar(data, metric.value().applyAsDouble(row));
                        bar.putObject("itemStyle")
                                .put("color", colour(row.system))
                                .put("opacity", OPACITIES.get(Math.min(speed, OPACITIES.size() - 1)));
                    }
                }
            }
        }
        return new Chart(option, TOP + PERFORMANCE.size() * panel + PANEL_GAP + BOTTOM);
    }

    /**
     * Where the server's CPU went: the paper's figure 8a.
     *
     * @param cells by value size: the rows of all systems
     */
    Chart shares(List<List<WimpyRow>> cells) {
        int panel = panelHeight(cells.getFirst().size(), 1);
        ObjectNode option = frame(PARTS.stream().map(Part::name).toList());
        for (int column = 0; column < cells.size(); column++) {
            List<WimpyRow> rows = cells.get(column);
            int index = panel(option, cells.size(), column, TOP, panel, ReportText.size(rows.getFirst().valueLength));
            axes(option, index, rows, column == 0, "\u00b5s per GET");
            for (Part part : PARTS) {
                ObjectNode series = series(option, index, part.name());
                // One name for each panel: the library adds up what has the same name, whatever its axes are.
                series.put("stack", "cpu" + index).put("color", part.colour());
                ((ObjectNode) series.get("label")).put("show", false);
                ArrayNode data = series.putArray("data");
                rows.forEach(row -> bar(data, part.micros().applyAsDouble(row)));
            }
        }
        return new Chart(option, TOP + panel + BOTTOM + PANEL_GAP / 2);
    }

    /**
     * GETs per second by cores of the server: the paper's figure 8b.
     *
     * @param cells by value size, of each by number of cores: the rows of all systems
     */
    Chart cores(List<List<List<WimpyRow>>> cells) {
        int panel = 240;
        List<String> names = cells.getFirst().getFirst().stream()
                .map(row -> row.system.label())
                .toList();
        ObjectNode option = frame(names);
        for (int column = 0; column < cells.size(); column++) {
            List<List<WimpyRow>> byCores = cells.get(column);
            String title = ReportText.size(byCores.getFirst().getFirst().valueLength);
            int index = panel(option, cells.size(), column, TOP + PANEL_GAP, panel, title);
            ArrayNode counts = option.withArray("xAxis")
                    .addObject()
                    .put("gridIndex", index)
                    .put("type", "category")
                    .put("name", "cores")
                    .put("nameLocation", "middle")
                    .put("nameGap", 26)
                    .putArray("data");
            byCores.forEach(rows -> counts.add(Integer.toString(rows.getFirst().serverCores)));
            option.withArray("yAxis")
                    .addObject()
                    .put("gridIndex", index)
                    .put("type", "value")
                    .put("name", column == 0 ? "thousand GETs/s" : "");
            for (WimpyRow first : byCores.getFirst()) {
                ObjectNode series = option.withArray("series")
                        .addObject()
                        .put("type", "line")
                        .put("name", first.system.label())
                        .put("color", colour(first.system))
                        .put("xAxisIndex", index)
                        .put("yAxisIndex", index);
                ArrayNode data = series.putArray("data");
                for (List<WimpyRow> rows : byCores) {
                    rows.stream()
                            .filter(row -> row.system.label().equals(first.system.label()))
                            .findFirst()
                            .ifPresentOrElse(
                                    row -> data.add(rounded(row.median(WimpyRow.GETS_PER_SECOND) / THOUSAND)),
                                    data::addNull);
                }
            }
        }
        return new Chart(option, TOP + PANEL_GAP + panel + BOTTOM + PANEL_GAP / 2);
    }

    private static double outside(WimpyRow row) {
        double outside = row.median(WimpyRow.SERVER_CORE) - row.median(WimpyRow.SERVER_CPU);
        return Double.isNaN(outside) ? 0 : Math.max(0, outside);
    }

    private static int panelHeight(int systems, int bars) {
        return systems * (bars * BAR_HEIGHT + LINE_GAP);
    }

    private static String colour(MeasuredSystem system) {
        return switch (system.kind()) {
            case MEMCACHED ->
                system.protocol().equals(GetCommand.META.label())
                        ? "#c8591b"
                        : system.protocol().equals(GetCommand.CLASSIC.label()) ? "#e58e5a" : "#f0b78f";
            case REDIS -> "#a4243b";
            case SOFTRDMA_TCP -> system.protocol().endsWith("io_uring") ? "#8fbcbe" : "#5f9ea0";
            case SOFTRDMA_READ ->
                system.protocol().endsWith("chunk")
                        ? "#2f9c8f"
                        : system.protocol().endsWith("io_uring") ? "#123f3c" : "#0b7a75";
            case SOFTRDMA_SAME_HOST -> "#6b4fa0";
            case FLOOR -> "#4a5560";
        };
    }

    // ------------------------------------------------------------------------------------------- pieces of an option

    private ObjectNode frame(List<String> legend) {
        ObjectNode option = mapper.createObjectNode();
        option.put("animation", false);
        option.putObject("textStyle").put("fontFamily", "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif");
        option.putObject("tooltip").put("trigger", "item");
        option.putObject("toolbox")
                .put("right", 0)
                .putObject("feature")
                .putObject("saveAsImage")
                .put("title", "save as SVG");
        if (!legend.isEmpty()) {
            ObjectNode node =
                    option.putObject("legend").put("top", 0).put("left", 0).put("right", 40);
            node.putArray("data")
                    .addAll(legend.stream()
                            .map(mapper.getNodeFactory()::textNode)
                            .toList());
        }
        return option;
    }

    /** Adds a grid with its title; its index. */
    private static int panel(ObjectNode option, int columns, int column, int top, int height, String title) {
        double width = (100.0 - LABELS_WIDTH_PERCENT - columns * GAP_PERCENT) / columns;
        double left = LABELS_WIDTH_PERCENT + column * (width + GAP_PERCENT);
        ArrayNode grids = option.withArray("grid");
        grids.addObject()
                .put("left", percent(left))
                .put("width", percent(width))
                .put("top", top)
                .put("height", height);
        if (!title.isEmpty()) {
            option.withArray("title")
                    .addObject()
                    .put("text", title)
                    .put("left", percent(left))
                    .put("top", top - 30)
                    .putObject("textStyle")
                    .put("fontSize", 14)
                    .put("color", INK);
        }
        return grids.size() - 1;
    }

    private static void axes(ObjectNode option, int index, List<WimpyRow> rows, boolean labelled, String name) {
        ObjectNode value =
                option.withArray("xAxis").addObject().put("gridIndex", index).put("type", "value");
        value.put("name", name).put("nameLocation", "middle").put("nameGap", 26).put("splitNumber", 3);
        // Room for the number at the end of the longest bar.
        value.putArray("boundaryGap").add(0).add("18%");
        value.putObject("splitLine").putObject("lineStyle").put("color", "#e8ecf0");
        value.putObject("axisLabel").put("color", SOFT).put("hideOverlap", true);
        ObjectNode category =
                option.withArray("yAxis").addObject().put("gridIndex", index).put("type", "category");
        category.put("inverse", true);
        category.putObject("axisTick").put("show", false);
        category.putObject("axisLabel").put("show", labelled).put("color", INK);
        ArrayNode names = category.putArray("data");
        rows.forEach(row -> names.add(row.system.label()));
    }

    private static ObjectNode series(ObjectNode option, int index, String name) {
        ObjectNode series = option.withArray("series").addObject();
        series.put("type", "bar").put("name", name).put("xAxisIndex", index).put("yAxisIndex", index);
        series.put("barMaxWidth", BAR_HEIGHT).put("barGap", "8%");
        series.putObject("label")
                .put("show", true)
                .put("position", "right")
                .put("color", SOFT)
                .put("fontSize", 11)
                .put("backgroundColor", NONE);
        return series;
    }

    private static ObjectNode bar(ArrayNode data, double value) {
        ObjectNode bar = data.addObject();
        if (Double.isFinite(value)) {
            bar.put("value", rounded(value));
        } else {
            bar.putNull("value");
        }
        return bar;
    }

    /** Three digits, which is more than a measurement has. */
    private static double rounded(double value) {
        return Double.parseDouble(String.format(Locale.ROOT, "%.3g", value));
    }

    private static String percent(double value) {
        return String.format(Locale.ROOT, "%.2f%%", value);
    }
}
