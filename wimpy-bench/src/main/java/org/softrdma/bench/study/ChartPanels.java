package org.softrdma.bench.study;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;

/** Pieces of a figure as options of Apache ECharts: small multiples side by side, a bar for each system. */
public final class ChartPanels {
    /** Pixels of a bar. */
    public static final int BAR_HEIGHT = 17;

    private static final int LABELS_WIDTH_PERCENT = 21;
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
     * Adds a grid with its title.
     *
     * @param option the figure
     * @param columns grids side by side
     * @param column which of them, from 0
     * @param top pixels
     * @param height pixels
     * @param title above it; empty for none
     * @return its index
     */
    public static int panel(ObjectNode option, int columns, int column, int top, int height, String title) {
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
