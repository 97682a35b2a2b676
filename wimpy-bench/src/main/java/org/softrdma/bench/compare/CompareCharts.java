package org.softrdma.bench.compare;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.softrdma.bench.study.ChartPanels;
import org.softrdma.stores.StoreCounter;

/** The figures of the report: a panel for each mix, a bar for each system. Stateless. */
final class CompareCharts {
    private static final int TOP = 74;
    private static final int BOTTOM = 66;
    private static final int LINE_GAP = 10;

    private static final List<Part> CPU = List.of(
            new Part("kernel (system calls, TCP)", "#e0a030", row -> cpu(row, CompareRow.KERNEL)),
            new Part("RNIC, user mode", "#0b7a75", row -> cpu(row, CompareRow.RNIC)),
            new Part("application, user mode", "#7fb5d5", row -> cpu(row, CompareRow.APPLICATION)),
            new Part("JVM (compiler, collector)", "#8e6bb0", row -> cpu(row, CompareRow.VIRTUAL_MACHINE)),
            new Part("core busy outside the process", "#b8c2cc", CompareCharts::outside));

    private static final List<Part> CLIENT =
            List.of(new Part("client", "#5b6875", row -> row.value(CompareRow.CLIENT_CPU)));

    private static final List<Part> MESSAGES = List.of(
            new Part("READs: requests and answers", "#0b7a75", row -> 2 * row.count(StoreCounter.READS)),
            new Part("atomics: requests and answers", "#8e6bb0", row -> 2 * row.count(StoreCounter.ATOMICS)),
            new Part("WRITEs", "#e0a030", row -> row.count(StoreCounter.WRITES) + answer(row, StoreCounter.WRITES)),
            new Part("SENDs, or requests and answers", "#c8591b", CompareCharts::sends));

    private static final List<Part> BYTES =
            List.of(new Part("bytes", "#4a5560", row -> row.value(CompareRow.WIRE_BYTES)));

    private static final List<Part> LATENCY = List.of(
            new Part("GET, half are faster", "#0b7a75", row -> row.value(CompareRow.GET_P50)),
            new Part("GET, 99 % are faster", "#9fd0cc", row -> row.value(CompareRow.GET_P99)),
            new Part("PUT, half are faster", "#c8591b", row -> row.value(CompareRow.PUT_P50)),
            new Part("PUT, 99 % are faster", "#f0b78f", row -> row.value(CompareRow.PUT_P99)));

    private static final List<Part> MEMORY = List.of(
            new Part("key and value", "#7fb5d5", row -> row.memory(CompareRow.DATA_PER_PAIR)),
            new Part("with all that belongs to them", "#0b7a75", row -> row.memory(CompareRow.USED_PER_PAIR)),
            new Part("registered, used or not", "#b8c2cc", row -> row.memory(CompareRow.REGISTERED_PER_PAIR)));

    private CompareCharts() {}

    /** What bars show, in a colour. */
    private record Part(String name, String colour, ToDoubleFunction<CompareRow> value) {}

    /** What the server's CPU did, microseconds per operation. */
    static ChartPanels.Chart serverCpu(List<List<CompareRow>> cells) {
        return bars(cells, CPU, true, "\u00b5s per operation");
    }

    /** The load's CPU, microseconds per operation. */
    static ChartPanels.Chart clientCpu(List<List<CompareRow>> cells) {
        return bars(cells, CLIENT, false, "\u00b5s per operation");
    }

    /** Messages in both directions per operation. */
    static ChartPanels.Chart messages(List<List<CompareRow>> cells) {
        return bars(cells, MESSAGES, true, "messages per operation");
    }

    /** Bytes in both directions per operation. */
    static ChartPanels.Chart bytes(List<List<CompareRow>> cells) {
        return bars(cells, BYTES, false, "bytes per operation");
    }

    /** How long operations took. */
    static ChartPanels.Chart latency(List<List<CompareRow>> cells) {
        return bars(cells, LATENCY, false, "\u00b5s");
    }

    /** What a pair takes at the server. */
    static ChartPanels.Chart memory(List<List<CompareRow>> cells) {
        return bars(cells, MEMORY, false, "bytes per pair");
    }

    private static ChartPanels.Chart bars(
            List<List<CompareRow>> cells, List<Part> parts, boolean stacked, String unit) {
        int bars = stacked ? 1 : parts.size();
        int systems = cells.stream().mapToInt(List::size).max().orElse(0);
        int panel = systems * (bars * ChartPanels.BAR_HEIGHT + LINE_GAP);
        ObjectNode option = ChartPanels.frame(
                parts.size() > 1 ? parts.stream().map(Part::name).toList() : List.of());
        for (int column = 0; column < cells.size(); column++) {
            List<CompareRow> rows = cells.get(column);
            String title = "mix " + rows.getFirst().mix();
            int index = ChartPanels.panel(option, cells.size(), column, TOP, panel, title);
            ChartPanels.axes(
                    option, index, rows.stream().map(CompareRow::system).toList(), column == 0, unit);
            for (Part part : parts) {
                ObjectNode series = ChartPanels.series(option, index, part.name());
                series.put("color", part.colour());
                if (stacked) {
                    // One name for each panel: the library adds up what has the same name, whatever its axes are.
                    series.put("stack", "stack" + index);
                    ((ObjectNode) series.get("label")).put("show", false);
                }
                ArrayNode data = series.putArray("data");
                for (CompareRow row : rows) {
                    ObjectNode ignored = ChartPanels.bar(data, part.value().applyAsDouble(row));
                }
            }
        }
        return new ChartPanels.Chart(option, TOP + panel + BOTTOM);
    }

    private static double cpu(CompareRow row, String part) {
        return row.cpu().getOrDefault(part, Double.NaN);
    }

    private static double outside(CompareRow row) {
        double outside = row.value(CompareRow.SERVER_CORE) - row.value(CompareRow.SERVER_CPU);
        return Double.isNaN(outside) ? 0 : Math.max(0, outside);
    }

    private static double answer(CompareRow row, StoreCounter counter) {
        return row.answers().getOrDefault(counter.name(), 0.0);
    }

    private static double sends(CompareRow row) {
        double asked = row.count(StoreCounter.SENDS);
        return row.kind() == SystemKind.DESIGN ? asked + answer(row, StoreCounter.SENDS) : 2 * asked;
    }
}
