package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Checks that transactions on lists are strictly serializable: that they could have taken effect one after the other,
 * each at an instant between its invocation and its return, with the lists that were read. Elle (Kingsbury and Alvaro,
 * VLDB 2020) checks the same way.
 *
 * <p>The lists as they are when everything has ended give the order of all writes, so the check is exact, and takes time
 * in proportion to the length of the history:
 *
 * <ol>
 *   <li>Each list that a committed transaction read is the beginning of the last one. No list has a number twice, nor
 *       one that nobody appended, nor one of an aborted transaction.
 *   <li>A transaction of unknown outcome whose number is in some list has taken effect, others have not. All numbers of
 *       each that took effect are in the last lists.
 *   <li>An arrow leads from each transaction to those that must come after it ({@link ListArrows}): by the order in a
 *       list, by what it read, and by real time. A circle of arrows is a contradiction.
 * </ol>
 *
 * <p>One check; any thread.
 */
public final class ListAppendChecker {
    private final List<ListTransaction> transactions;
    private final Map<String, List<Long>> lists;
    private final Map<Long, ListTransaction> writers = new HashMap<>();
    private final Set<Long> present = new HashSet<>();

    private ListAppendChecker(List<ListTransaction> transactions, Map<String, List<Long>> last) {
        this.transactions = transactions;
        lists = new TreeMap<>(last);
    }

    /**
     * Checks a history.
     *
     * @param transactions in any order
     * @param last every list when all had ended; a key without a list has an empty one
     * @throws IllegalArgumentException if a number is appended twice in the run
     */
    public static ListVerdict check(List<ListTransaction> transactions, Map<String, List<Long>> last) {
        return new ListAppendChecker(transactions, last).check();
    }

    private ListVerdict check() {
        for (ListTransaction transaction : transactions) {
            for (long value : transaction.appends().values()) {
                if (writers.put(value, transaction) != null) {
                    throw new IllegalArgumentException(value + " is appended twice in the run: expected once");
                }
            }
        }
        Optional<ListVerdict> wrong = wrongList();
        if (wrong.isPresent()) {
            return wrong.get();
        }
        List<ListTransaction> effective = new ArrayList<>();
        for (ListTransaction transaction : transactions) {
            if (hasTakenEffect(transaction)) {
                effective.add(transaction);
            }
        }
        for (ListTransaction transaction : effective) {
            wrong = wrongRead(transaction).or(() -> missing(transaction));
            if (wrong.isPresent()) {
                return wrong.get();
            }
        }
        return new ListArrows(effective, lists, writers)
                .shortestCircle()
                .map(circle -> verdict(circle.words(), circle.transactions()))
                .orElseGet(() -> verdict("", List.of()));
    }

    private boolean hasTakenEffect(ListTransaction transaction) {
        return switch (transaction.outcome()) {
            case COMMITTED -> true;
            case ABORTED -> false;
            case UNKNOWN -> transaction.appends().values().stream().anyMatch(present::contains);
        };
    }

    private ListVerdict verdict(String violation, List<ListTransaction> guilty) {
        return new ListVerdict(transactions.size(), violation, guilty);
    }

    private Optional<ListVerdict> violation(String words, List<ListTransaction> guilty) {
        StringBuilder text = new StringBuilder(words);
        guilty.forEach(transaction -> text.append("\n  ").append(transaction));
        return Optional.of(verdict(text.toString(), guilty));
    }

    private Optional<ListVerdict> wrongList() {
        for (Map.Entry<String, List<Long>> entry : lists.entrySet()) {
            String whose = "the last list of " + entry.getKey() + " has ";
            for (Long value : entry.getValue()) {
                @Nullable ListTransaction writer = writers.get(value);
                if (writer == null || !value.equals(writer.appends().get(entry.getKey()))) {
                    return violation(whose + value + ", which nobody appended to it", List.of());
                }
                if (!present.add(value)) {
                    return violation(whose + value + " twice", List.of(writer));
                }
                if (writer.outcome() == ListTransaction.Outcome.ABORTED) {
                    return violation(whose + value + " of an aborted transaction", List.of(writer));
                }
            }
        }
        return Optional.empty();
    }

    private Optional<ListVerdict> wrongRead(ListTransaction transaction) {
        for (Map.Entry<String, List<Long>> entry : new TreeMap<>(transaction.reads()).entrySet()) {
            List<Long> read = entry.getValue();
            List<Long> list = lists.getOrDefault(entry.getKey(), List.of());
            if (read.size() > list.size() || !list.subList(0, read.size()).equals(read)) {
                for (Long value : read) {
                    @Nullable ListTransaction writer = writers.get(value);
                    if (writer != null && writer.outcome() == ListTransaction.Outcome.ABORTED) {
                        return violation(value + " of an aborted transaction was read", List.of(transaction, writer));
                    }
                }
                return violation(
                        read + " was read of " + entry.getKey() + ", which is no beginning of the last list " + list,
                        List.of(transaction));
            }
        }
        return Optional.empty();
    }

    private Optional<ListVerdict> missing(ListTransaction transaction) {
        for (Map.Entry<String, Long> append : new TreeMap<>(transaction.appends()).entrySet()) {
            if (!present.contains(append.getValue())) {
                boolean half = transaction.appends().values().stream().anyMatch(present::contains);
                return violation(
                        "the last list of " + append.getKey() + " has no " + append.getValue() + ": "
                                + (half ? "half of the transaction is lost" : "the transaction is lost"),
                        List.of(transaction));
            }
        }
        return Optional.empty();
    }
}
