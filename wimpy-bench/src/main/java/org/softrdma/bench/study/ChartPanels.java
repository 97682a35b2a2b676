package org.softrdma.bench.study;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.softrdma.bench.measurement.MedianOfRounds;

/** Pieces of a figure as options of Apache ECharts: small multiples side by side, a bar for each system. */
public final class ChartPanels {
    /** Pixels of a bar. */
    public static final int BAR_HEIGHT = 17;

    /** Pixels of a narrow page: labels fit on wider ones too. */
    private static final double PAGE_WIDTH = 1000;

    private static final double CHARACTER_WIDTH = 6.6;
    private static final int LABELS_MARGIN = 16;
    private static final int LEAST_LABELS_PERCENT = 12;
    private static final int MOST_LABELS_PERCENT = 34;
    /** Numbers beside an axis of values. */
    private static final int NUMBERS_PERCENT = 8;

    private static final String WHISKER = "#3a4652";
    /** Bars, in parts of the room of a name, as the library draws them. */
    private static final double LEAST_GAP = 0.15;

    private static final double WIDEST_GAP = 0.35;
    private static final double LESS_GAP_PER_BAR = 0.04;
    private static final double BETWEEN_BARS = 0.08;
    /** The median of a panel's bars is so much of the longest, or less: a linear axis would show that one only. */
    private static final double FLATTENED = 0.1;

    private static final double ROOM_FOR_NUMBERS = 3;
    private static final int GAP_PERCENT = 4;
    private static final int TITLE_ABOVE = 30;
    private static final String INK = "#1d2733";
    private static final String SOFT = "#5b6875";
    private static final String NONE = "transparent";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private ChartPanels() {}

    /**
     * A figure.
     *
     * @param option for ECharts
     * @param height pixels
     */
    public record Chart(ObjectNode option, int height) {}

    /**
     * A figure without panels.
     *
     * @param legend what it explains; empty for none
     */
    public static ObjectNode frame(List<String> legend) {
        ObjectNode option = MAPPER.createObjectNode();
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
                            .map(MAPPER.getNodeFactory()::textNode)
                            .toList());
        }
        return option;
    }

    /**
     * Where the grids of a figure are.
     *
     * @param columns grids side by side
     * @param labelsPercent what the labels take that are left of the first
     */
    public record Columns(int columns, double labelsPercent) {
        /** Grids of bars with names, all of which must fit. */
        public static Columns named(int columns, List<String> names) {
            int longest = names.stream().mapToInt(String::length).max().orElse(0);
            double percent = 100 * (longest * CHARACTER_WIDTH + LABELS_MARGIN) / PAGE_WIDTH;
            return new Columns(columns, Math.clamp(percent, LEAST_LABELS_PERCENT, MOST_LABELS_PERCENT));
        }

        /** Grids with numbers beside them. */
        public static Columns numbered(int columns) {
            return new Columns(columns, NUMBERS_PERCENT);
        }
    }

    /** The names of all bars, in their order, so that each panel has a row for each of them. */
    public static List<String> names(List<List<String>> panels) {
        List<String> names = new ArrayList<>();
        panels.stream()
                .sorted(Comparator.comparingInt((List<String> panel) -> panel.size())
                        .reversed())
                .flatMap(List::stream)
                .filter(name -> !names.contains(name))
                .forEach(names::add);
        return names;
    }

    /**
     * Adds a grid with its title.
     *
     * @param option the figure
     * @param columns of the figure
     * @param column which of them, from 0
     * @param top pixels
     * @param height pixels
     * @param title above it; empty for none
     * @return its index
     */
    public static int panel(ObjectNode option, Columns columns, int column, int top, int height, String title) {
        double width = (100.0 - columns.labelsPercent() - columns.columns() * GAP_PERCENT) / columns.columns();
        double left = columns.labelsPercent() + column * (width + GAP_PERCENT);
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
                    .put("top", top - TITLE_ABOVE)
                    .putObject("textStyle")
                    .put("fontSize", 14)
                    .put("color", INK);
        }
        return grids.size() - 1;
    }

    /**
     * Adds the axes of a panel of bars.
     *
     * @param option the figure
     * @param index of the panel
     * @param names of the bars, from above
     * @param labelled whether they are shown
     * @param name of what is measured
     */
    public static void axes(ObjectNode option, int index, List<String> names, boolean labelled, String name) {
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
        ArrayNode labels = category.putArray("data");
        names.forEach(labels::add);
    }

    /**
     * Makes the axis of a panel's values logarithmic if one bar would flatten the others.
     *
     * @param option the figure
     * @param index of the panel
     * @param values of all bars
     */
    public static void scale(ObjectNode option, int index, List<Double> values) {
        List<Double> sorted = values.stream()
                .filter(value -> Double.isFinite(value) && value > 0)
                .sorted()
                .toList();
        if (sorted.isEmpty() || sorted.get(sorted.size() / 2) > FLATTENED * sorted.getLast()) {
            return;
        }
        ObjectNode axis = (ObjectNode) option.withArray("xAxis").get(index);
        axis.put("type", "log").put("name", axis.path("name").asText() + ", logarithmic");
        axis.put("min", Math.pow(10, Math.floor(Math.log10(sorted.getFirst() / 2))));
        axis.put("max", rounded(sorted.getLast() * ROOM_FOR_NUMBERS));
        axis.remove("boundaryGap");
    }

    /**
     * Draws the least and the most of the rounds as whiskers. Only after all panels have their axes.
     *
     * @param option the figure
     * @param index of the panel
     * @param spreads by row from above: one for each bar of it, empty where there is none
     */
    public static void whiskers(ObjectNode option, int index, List<List<Optional<MedianOfRounds.Spread>>> spreads) {
        // A second axis, on which a whisker can stand beside its bar and not only in the middle of the row.
        int axis = option.withArray("yAxis").size();
        ObjectNode rows =
                option.withArray("yAxis").addObject().put("gridIndex", index).put("type", "value");
        rows.put("show", false).put("inverse", true).put("min", 0).put("max", spreads.size());
        ObjectNode series = option.withArray("series").addObject();
        series.put("type", "line").put("name", "least and most of the rounds");
        series.put("xAxisIndex", index).put("yAxisIndex", axis).put("color", WHISKER);
        series.put("symbol", "none")
                .put("silent", true)
                .put("connectNulls", false)
                .put("z", 5);
        series.putObject("lineStyle").put("width", 1.5);
        ArrayNode points = series.putArray("data");
        for (int row = 0; row < spreads.size(); row++) {
            List<Optional<MedianOfRounds.Spread>> bars = spreads.get(row);
            for (int bar = 0; bar < bars.size(); bar++) {
                double y = row + 0.5 + offset(bar, bars.size());
                bars.get(bar).filter(spread -> spread.most() > spread.least()).ifPresent(spread -> {
                    points.addArray().add(spread.least()).add(y);
                    points.addArray().add(spread.most()).add(y);
                    points.addArray().addNull().addNull();
                });
            }
        }
    }

    /** How far the middle of a bar is from the middle of its row, in rows. */
    private static double offset(int bar, int bars) {
        double gap = Math.max(WIDEST_GAP - bars * LESS_GAP_PER_BAR, LEAST_GAP);
        double width = (1 - gap) / (bars + (bars - 1) * BETWEEN_BARS);
        return (bar - (bars - 1) / 2.0) * width * (1 + BETWEEN_BARS);
    }

    /**
     * Adds a series of bars to a panel.
     *
     * @param option the figure
     * @param index of the panel
     * @param name in the legend
     */
    public static ObjectNode series(ObjectNode option, int index, String name) {
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

    /**
     * Adds a bar.
     *
     * @param data of its series
     * @param value its length; nothing is drawn for what was not measured
     */
    public static ObjectNode bar(ArrayNode data, double value) {
        ObjectNode bar = data.addObject();
        if (Double.isFinite(value)) {
            bar.put("value", rounded(value));
        } else {
            bar.putNull("value");
        }
        return bar;
    }

    /** Three digits, which is more than a measurement has. */
    public static double rounded(double value) {
        return Double.parseDouble(String.format(Locale.ROOT, "%.3g", value));
    }

    private static String percent(double value) {
        return String.format(Locale.ROOT, "%.2f%%", value);
    }
}
