package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes a history of transactions as Jepsen does, in EDN, so that its checker Elle can judge it too: model {@code
 * list-append}, {@code strict-serializable}. A line for each invocation and for each answer, in their order. Processes are
 * numbers, each of which does one transaction at a time and none after one of unknown outcome, as Jepsen's do. Stateless.
 */
public final class EdnHistory {
    private EdnHistory() {}

    private record Line(long time, boolean answer, int process, ListTransaction transaction) {}

    /**
     * The text.
     *
     * @param transactions in any order
     * @param last every list when all had ended: it becomes one more transaction, after all others
     */
    public static String of(List<ListTransaction> transactions, Map<String, List<Long>> last) {
        List<ListTransaction> all = new ArrayList<>(transactions);
        long end = Long.MIN_VALUE;
        for (ListTransaction transaction : transactions) {
            end = Math.max(end, transaction.invoked());
            if (transaction.returned() != Operation.NEVER) {
                end = Math.max(end, transaction.returned());
            }
        }
        if (!last.isEmpty()) {
            all.add(new ListTransaction("last", end + 1, end + 2, ListTransaction.Outcome.COMMITTED, last, Map.of()));
        }
        List<Line> lines = lines(all);
        StringBuilder text = new StringBuilder();
        for (int index = 0; index < lines.size(); index++) {
            append(text, index, lines.get(index));
        }
        return text.toString();
    }

    private static List<Line> lines(List<ListTransaction> all) {
        all.sort(Comparator.comparingLong(ListTransaction::invoked));
        List<Long> freeAt = new ArrayList<>(); // of each process
        List<Line> lines = new ArrayList<>();
        for (ListTransaction transaction : all) {
            int process = 0;
            while (process < freeAt.size() && freeAt.get(process) >= transaction.invoked()) {
                process++;
            }
            boolean known = transaction.outcome() != ListTransaction.Outcome.UNKNOWN;
            long free = known ? transaction.returned() : Long.MAX_VALUE;
            if (process == freeAt.size()) {
                freeAt.add(free);
            } else {
                freeAt.set(process, free);
            }
            lines.add(new Line(transaction.invoked(), false, process, transaction));
            if (transaction.returned() != Operation.NEVER) {
                lines.add(new Line(transaction.returned(), true, process, transaction));
            }
        }
        lines.sort(Comparator.comparingLong(Line::time).thenComparing(Line::answer));
        return lines;
    }

    private static void append(StringBuilder text, int index, Line line) {
        ListTransaction transaction = line.transaction();
        String type = !line.answer()
                ? "invoke"
                : switch (transaction.outcome()) {
                    case COMMITTED -> "ok";
                    case ABORTED -> "fail";
                    case UNKNOWN -> "info";
                };
        boolean read = line.answer() && transaction.outcome() == ListTransaction.Outcome.COMMITTED;
        text.append("{:index ").append(index);
        text.append(", :time ").append(line.time());
        text.append(", :process ").append(line.process());
        text.append(", :type :").append(type).append(", :f :txn, :value [");
        String separator = "";
        for (Map.Entry<String, List<Long>> entry : new TreeMap<>(transaction.reads()).entrySet()) {
            text.append(separator).append("[:r ").append(quoted(entry.getKey())).append(' ');
            text.append(read ? entry.getValue().toString().replace(",", "") : "nil")
                    .append(']');
            separator = " ";
        }
        for (Map.Entry<String, Long> entry : new TreeMap<>(transaction.appends()).entrySet()) {
            text.append(separator)
                    .append("[:append ")
                    .append(quoted(entry.getKey()))
                    .append(' ');
            text.append(entry.getValue()).append(']');
            separator = " ";
        }
        text.append("]}\n");
    }

    private static String quoted(String key) {
        return '"' + key.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
