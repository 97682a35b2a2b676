package org.softrdma.bench.compare;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.bench.study.ChartPanels;

/** The figure of the designs beside CPU workers: a panel for each priority of the RNIC, a line for each design. Stateless. */
final class WorkersChart {
    private static final int TOP = 74;
    private static final int PANEL = 300;
    private static final int BOTTOM = 66;
    private static final String SOFT = "#5b6875";
    private static final List<String> COLOURS =
            List.of("#0b7a75", "#e0a030", "#8e6bb0", "#c8591b", "#4a5560", "#7fb5d5", "#b03060", "#6b8e23");

    private WorkersChart() {}

    /** Operations per second, as parts of those of the same server beside no worker. */
    static ChartPanels.Chart of(CompareResults results) {
        List<String> systems =
                results.workers().stream().map(WorkersRow::system).distinct().toList();
        List<Boolean> priorities =
                results.workers().stream().map(WorkersRow::raised).distinct().toList();
        ObjectNode option = ChartPanels.frame(systems);
        for (int column = 0; column < priorities.size(); column++) {
            boolean raised = priorities.get(column);
            String title = raised
                    ? "the RNIC is a thread and comes first (nice " + WorkersBlock.RAISED + ")"
                    : "one thread, usual priority";
            int index = ChartPanels.panel(
                    option, ChartPanels.Columns.numbered(priorities.size()), column, TOP, PANEL, title);
            axes(option, index, results.workerCounts());
            for (int i = 0; i < systems.size(); i++) {
                String system = systems.get(i);
                ObjectNode series = option.withArray("series").addObject();
                series.put("type", "line").put("name", system).put("color", COLOURS.get(i % COLOURS.size()));
                series.put("xAxisIndex", index).put("yAxisIndex", index).put("symbolSize", 7);
                ArrayNode data = series.putArray("data");
                results.workerCounts()
                        .forEach(count -> ChartPanels.bar(data, results.partBesideWorkers(system, raised, count)));
            }
        }
        return new ChartPanels.Chart(option, TOP + PANEL + BOTTOM);
    }

    private static void axes(ObjectNode option, int index, List<Integer> counts) {
        ObjectNode category =
                option.withArray("xAxis").addObject().put("gridIndex", index).put("type", "category");
        category.put("name", "CPU workers on the server's core")
                .put("nameLocation", "middle")
                .put("nameGap", 28);
        ArrayNode labels = category.putArray("data");
        new ArrayList<>(counts).forEach(count -> labels.add(Integer.toString(count)));
        ObjectNode value =
                option.withArray("yAxis").addObject().put("gridIndex", index).put("type", "value");
        value.put("min", 0).put("name", "part of the rate without workers");
        value.putObject("axisLabel").put("color", SOFT);
    }
}
