package org.softrdma.bench.compare;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.study.ChartPanels;
import org.softrdma.stores.StoreCounter;

/** The figures of the report: a panel for each mix, a bar for each system. Stateless. */
final class CompareCharts {
    private static final int TOP = 74;
    private static final int BOTTOM = 66;
    private static final int LINE_GAP = 10;

    private static final List<Part> CPU = List.of(
            new Part(
                    "kernel (system calls, TCP)",
                    "#e0a030",
                    CompareRow.SERVER_CORE,
                    row -> cpu(row, CompareRow.KERNEL)),
            new Part("RNIC, user mode", "#0b7a75", row -> cpu(row, CompareRow.RNIC)),
            new Part(
                    "application, user mode (of designs with their RNIC)",
                    "#7fb5d5",
                    row -> cpu(row, CompareRow.APPLICATION)),
            new Part("JVM (compiler, collector)", "#8e6bb0", row -> cpu(row, CompareRow.VIRTUAL_MACHINE)),
            new Part("core busy outside the process", "#b8c2cc", CompareCharts::outside));

    private static final List<Part> CLIENT = List.of(Part.of("client", "#5b6875", CompareRow.CLIENT_CPU));

    private static final List<Part> MESSAGES = List.of(
            new Part("READs: requests and answers", "#0b7a75", row -> 2 * row.count(StoreCounter.READS)),
            new Part("atomics: requests and answers", "#8e6bb0", row -> 2 * row.count(StoreCounter.ATOMICS)),
            new Part("WRITEs", "#e0a030", row -> row.count(StoreCounter.WRITES) + answer(row, StoreCounter.WRITES)),
            new Part("SENDs, or requests and answers", "#c8591b", CompareCharts::sends));

    private static final List<Part> BYTES = List.of(Part.of("bytes", "#4a5560", CompareRow.WIRE_BYTES));

    private static final List<Part> LATENCY = List.of(
            Part.of("GET, half are faster", "#0b7a75", CompareRow.GET_P50),
            Part.of("GET, 99 % are faster", "#9fd0cc", CompareRow.GET_P99),
            Part.of("PUT, half are faster", "#c8591b", CompareRow.PUT_P50),
            Part.of("PUT, 99 % are faster", "#f0b78f", CompareRow.PUT_P99));

    private static final List<Part> MEMORY = List.of(
            new Part("key and value", "#7fb5d5", row -> row.memory(CompareRow.DATA_PER_PAIR)),
            new Part("with all that belongs to them", "#0b7a75", row -> row.memory(CompareRow.USED_PER_PAIR)),
            new Part("registered, used or not", "#b8c2cc", row -> row.memory(CompareRow.REGISTERED_PER_PAIR)));

    private CompareCharts() {}

    /** What bars show, in a colour. */
    private record Part(String name, String colour, String rounds, ToDoubleFunction<CompareRow> value) {
        /** What is counted over all rounds, or once. */
        Part(String name, String colour, ToDoubleFunction<CompareRow> value) {
            this(name, colour, "", value);
        }

        /** What each round has. */
        static Part of(String name, String colour, String rounds) {
            return new Part(name, colour, rounds, row -> row.value(rounds));
        }
    }

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

    /** Every panel has a row for every system of the figure, so that bars stand beside their names. */
    private static ChartPanels.Chart bars(
            List<List<CompareRow>> cells, List<Part> parts, boolean stacked, String unit) {
        int bars = stacked ? 1 : parts.size();
        List<String> names = ChartPanels.names(cells.stream()
                .map(cell -> cell.stream().map(CompareRow::system).toList())
                .toList());
        ChartPanels.Columns columns = ChartPanels.Columns.named(cells.size(), names);
        int panel = names.size() * (bars * ChartPanels.BAR_HEIGHT + LINE_GAP);
        ObjectNode option = ChartPanels.frame(
                parts.size() > 1 ? parts.stream().map(Part::name).toList() : List.of());
        for (int column = 0; column < cells.size(); column++) {
            List<CompareRow> rows = cells.get(column);
            String title = "mix " + rows.getFirst().mix();
            int index = ChartPanels.panel(option, columns, column, TOP, panel, title);
            ChartPanels.axes(option, index, names, column == 0, unit);
            List<Double> values = new ArrayList<>();
            for (Part part : parts) {
                ObjectNode series = ChartPanels.series(option, index, part.name());
                series.put("color", part.colour());
                if (stacked) {
                    // One name for each panel: the library adds up what has the same name, whatever its axes are.
                    series.put("stack", "stack" + index);
                    ((ObjectNode) series.get("label")).put("show", false);
                }
                ArrayNode data = series.putArray("data");
                for (String name : names) {
                    double value = CompareResults.of(rows, name)
                            .map(row -> part.value().applyAsDouble(row))
                            .orElse(Double.NaN);
                    values.add(value);
                    ObjectNode ignored = ChartPanels.bar(data, value);
                }
            }
            if (!stacked) {
                ChartPanels.scale(option, index, values);
            }
        }
        for (int column = 0; column < cells.size(); column++) {
            ChartPanels.whiskers(
                    option, column, spreads(names, cells.get(column), stacked ? parts.subList(0, 1) : parts));
        }
        return new ChartPanels.Chart(option, TOP + panel + BOTTOM);
    }

    /** By name, of each by part; a stack has that of its whole. */
    private static List<List<Optional<MedianOfRounds.Spread>>> spreads(
            List<String> names, List<CompareRow> rows, List<Part> parts) {
        return names.stream()
                .map(name -> parts.stream()
                        .map(part -> CompareResults.of(rows, name).flatMap(row -> row.spread(part.rounds())))
                        .toList())
                .toList();
    }

    private static double cpu(CompareRow row, String part) {
        return row.cpu().getOrDefault(part, Double.NaN);
    }

    private static double outside(CompareRow row) {
        double outside = row.value(CompareRow.SERVER_CORE)
                - row.value(CompareRow.SERVER_CPU)
                - row.values().getOrDefault(CompareRow.SERVER_COMPILER, 0.0);
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
