package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;

/**
 * Operations as bars over a common line of time, one per row. Only the order of times is drawn to scale: each instant at
 * which an operation begins or ends is a column. Single thread.
 */
final class TimeDiagram {
    private static final int LONGEST_WORDS = 48;
    private static final int LONGEST_PROCESS = 16;
    private static final int WIDE = 4;
    private static final int MOST_WIDE_COLUMNS = 16;

    private final List<Operation<?, ?>> operations = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();

    /** Adds a row. */
    void add(Operation<?, ?> operation, String remark) {
        operations.add(operation);
        remarks.add(remark);
    }

    /** Process, bar, what it did, and when: relative to the first instant. */
    List<String> lines() {
        TreeSet<Long> instants = new TreeSet<>();
        operations.forEach(operation -> {
            instants.add(operation.invoked());
            instants.add(operation.returned());
        });
        List<Long> columns = List.copyOf(instants);
        int scale = columns.size() <= MOST_WIDE_COLUMNS ? WIDE : 1;
        int processes = widest(operation -> shortened(operation.process(), LONGEST_PROCESS));
        int words = widest(operation -> shortened(operation.words(), LONGEST_WORDS));
        int bars = (columns.size() - 1) * scale + 1;
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < operations.size(); i++) {
            Operation<?, ?> operation = operations.get(i);
            int from = Collections.binarySearch(columns, operation.invoked()) * scale;
            int to = Collections.binarySearch(columns, operation.returned()) * scale;
            String line = "  " + padded(shortened(operation.process(), LONGEST_PROCESS), processes) + "  "
                    + padded(" ".repeat(from) + bar(to - from, operation.isKnown()), bars) + "  "
                    + padded(shortened(operation.words(), LONGEST_WORDS), words) + "  "
                    + times(operation, columns.getFirst())
                    + (remarks.get(i).isEmpty() ? "" : "  " + remarks.get(i));
            lines.add(line.stripTrailing());
        }
        return lines;
    }

    private static String bar(int length, boolean known) {
        if (!known) {
            return "|" + "-".repeat(Math.max(0, length - 1)) + ">";
        }
        return length == 0 ? "|" : "|" + "-".repeat(length - 1) + "|";
    }

    private static String times(Operation<?, ?> operation, long first) {
        long from = operation.invoked() - first;
        return operation.isKnown() ? "[" + from + ", " + (operation.returned() - first) + "]" : "[" + from + ", never]";
    }

    private interface Column {
        String of(Operation<?, ?> operation);
    }

    private int widest(Column column) {
        return operations.stream()
                .mapToInt(operation -> column.of(operation).length())
                .max()
                .orElse(0);
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(width - text.length());
    }

    private static String shortened(String text, int longest) {
        return text.length() <= longest ? text : text.substring(0, longest - 3) + "...";
    }
}
