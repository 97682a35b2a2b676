package org.softrdma.testkit.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The arrows between transactions that took effect, each from one to another that must come after it:
 *
 * <ul>
 *   <li><b>ww</b> from the writer of a number to the writer of the next one in the list
 *   <li><b>wr</b> from the writer of the last number that was read to the reader
 *   <li><b>rw</b> from a reader to the writer of the first number that it did not read
 *   <li><b>real time</b> from one that had returned to those that were invoked later. There would be an arrow for almost
 *       each pair; so they lead through nodes of time, one for each return, chained in their order
 * </ul>
 *
 * <p>Nodes are numbered: transactions first, then times. One thread.
 */
final class ListArrows {
    /** Nodes in circles from which the shortest circle is searched. */
    private static final int MOST_STARTS = 1000;

    private final List<ListTransaction> transactions;
    private final IdentityHashMap<ListTransaction, Integer> numbers = new IdentityHashMap<>();
    private final List<List<Arrow>> arrows = new ArrayList<>();

    private record Arrow(int to, String why) {}

    /** A circle, in the order of its arrows. */
    record Circle(List<ListTransaction> transactions, List<String> reasons) {
        String words() {
            StringBuilder text = new StringBuilder("no order explains these " + transactions.size());
            for (int i = 0; i < transactions.size(); i++) {
                text.append("\n  ")
                        .append(transactions.get(i))
                        .append("\n    then, by ")
                        .append(reasons.get(i));
            }
            return text.append("\n  the first again").toString();
        }
    }

    /**
     * All arrows.
     *
     * @param transactions that took effect
     * @param lists the last ones
     * @param writers of each number
     */
    ListArrows(List<ListTransaction> transactions, Map<String, List<Long>> lists, Map<Long, ListTransaction> writers) {
        this.transactions = transactions;
        for (ListTransaction transaction : transactions) {
            numbers.put(transaction, arrows.size());
            arrows.add(new ArrayList<>());
        }
        lists.forEach((key, list) -> {
            for (int i = 1; i < list.size(); i++) {
                Long value = list.get(i - 1);
                Long next = list.get(i);
                add(number(writers, value), number(writers, next), "ww: " + key + " has " + value + ", " + next);
            }
        });
        for (ListTransaction transaction : transactions) {
            transaction.reads().forEach((key, read) -> addRead(transaction, key, read, lists, writers));
        }
        addRealTime();
    }

    private int number(Map<Long, ListTransaction> writers, Long value) {
        return number(Objects.requireNonNull(writers.get(value), "the writer"));
    }

    private int number(ListTransaction transaction) {
        return Objects.requireNonNull(numbers.get(transaction), "one that took effect");
    }

    private void add(int from, int to, String why) {
        if (from != to) {
            arrows.get(from).add(new Arrow(to, why));
        }
    }

    private void addRead(
            ListTransaction reader,
            String key,
            List<Long> read,
            Map<String, List<Long>> lists,
            Map<Long, ListTransaction> writers) {
        List<Long> list = lists.getOrDefault(key, List.of());
        if (!read.isEmpty()) {
            Long value = read.getLast();
            add(number(writers, value), number(reader), "wr: " + value + " of " + key + " was read");
        }
        if (read.size() < list.size()) {
            Long value = list.get(read.size());
            add(number(reader), number(writers, value), "rw: " + value + " of " + key + " was not read");
        }
    }

    /**
     * By the times of the clock: those that are invoked at one come before those that return at it, as neither precedes.
     * One of unknown outcome may take effect after its answer.
     */
    private void addRealTime() {
        TreeMap<Long, List<Integer>> invoked = new TreeMap<>();
        TreeMap<Long, List<Integer>> returned = new TreeMap<>();
        for (int i = 0; i < transactions.size(); i++) {
            ListTransaction transaction = transactions.get(i);
            invoked.computeIfAbsent(transaction.invoked(), time -> new ArrayList<>())
                    .add(i);
            if (transaction.outcome() == ListTransaction.Outcome.COMMITTED) {
                returned.computeIfAbsent(transaction.returned(), time -> new ArrayList<>())
                        .add(i);
            }
        }
        int last = -1;
        Map.Entry<Long, List<Integer>> begin = invoked.firstEntry();
        for (Map.Entry<Long, List<Integer>> end : returned.entrySet()) {
            while (begin != null && begin.getKey() <= end.getKey()) {
                arrowsFrom(last, begin.getValue());
                begin = invoked.higherEntry(begin.getKey());
            }
            int time = arrows.size();
            arrows.add(new ArrayList<>());
            if (last >= 0) {
                add(last, time, "");
            }
            for (int transaction : end.getValue()) {
                add(transaction, time, "real time: it had returned");
            }
            last = time;
        }
        while (begin != null) {
            arrowsFrom(last, begin.getValue());
            begin = invoked.higherEntry(begin.getKey());
        }
    }

    private void arrowsFrom(int time, List<Integer> begun) {
        if (time >= 0) {
            begun.forEach(transaction -> add(time, transaction, ""));
        }
    }

    // ---- circles

    /** The shortest circle, if there is one. */
    Optional<Circle> shortestCircle() {
        int[] component = components();
        int[] sizes = new int[arrows.size()];
        for (int node : component) {
            sizes[node]++;
        }
        Optional<Circle> shortest = Optional.empty();
        int starts = 0;
        for (int node = 0; node < transactions.size() && starts < MOST_STARTS; node++) {
            if (sizes[component[node]] > 1) {
                starts++;
                Circle circle = circleFrom(node, component);
                if (shortest.isEmpty()
                        || circle.transactions().size()
                                < shortest.get().transactions().size()) {
                    shortest = Optional.of(circle);
                }
            }
        }
        return shortest;
    }

    /** The strongly connected component of each node (Tarjan 1972), named by one of its nodes. */
    private int[] components() {
        int count = arrows.size();
        int[] component = new int[count];
        int[] index = new int[count];
        int[] low = new int[count];
        int[] next = new int[count];
        boolean[] open = new boolean[count];
        Arrays.fill(index, -1);
        IntStack path = new IntStack();
        IntStack pending = new IntStack();
        int visited = 0;
        for (int root = 0; root < count; root++) {
            if (index[root] >= 0) {
                continue;
            }
            path.push(root);
            while (!path.isEmpty()) {
                int node = path.top();
                if (index[node] < 0) {
                    index[node] = visited;
                    low[node] = visited++;
                    open[node] = true;
                    pending.push(node);
                }
                if (next[node] < arrows.get(node).size()) {
                    int to = arrows.get(node).get(next[node]++).to();
                    if (index[to] < 0) {
                        path.push(to);
                    } else if (open[to]) {
                        low[node] = Math.min(low[node], index[to]);
                    }
                    continue;
                }
                int _ = path.pop();
                if (!path.isEmpty()) {
                    low[path.top()] = Math.min(low[path.top()], low[node]);
                }
                if (low[node] == index[node]) {
                    int member;
                    do {
                        member = pending.pop();
                        open[member] = false;
                        component[member] = node;
                    } while (member != node);
                }
            }
        }
        return component;
    }

    /** The shortest circle through a node; the way through times counts as one arrow. */
    private Circle circleFrom(int start, int[] component) {
        int[] distance = new int[arrows.size()];
        int[] before = new int[arrows.size()];
        String[] why = new String[arrows.size()];
        Arrays.fill(distance, Integer.MAX_VALUE);
        Deque<Integer> queue = new ArrayDeque<>();
        distance[start] = 0;
        queue.add(start);
        while (!queue.isEmpty()) {
            int node = queue.poll();
            for (Arrow arrow : arrows.get(node)) {
                int length = distance[node] + (node < transactions.size() ? 1 : 0);
                if (component[arrow.to()] != component[start]) {
                    continue;
                }
                if (arrow.to() == start) {
                    return circle(start, node, arrow.why(), before, why);
                }
                if (length < distance[arrow.to()]) {
                    distance[arrow.to()] = length;
                    before[arrow.to()] = node;
                    why[arrow.to()] = arrow.why();
                    if (node < transactions.size()) {
                        queue.addLast(arrow.to());
                    } else {
                        queue.addFirst(arrow.to());
                    }
                }
            }
        }
        throw new IllegalStateException("a strongly connected component without a circle");
    }

    private Circle circle(int start, int last, String lastWhy, int[] before, String[] why) {
        List<ListTransaction> members = new ArrayList<>();
        List<String> reasons = new ArrayList<>();
        String reason = lastWhy;
        for (int node = last; ; node = before[node]) {
            if (node < transactions.size()) {
                members.addFirst(transactions.get(node));
                reasons.addFirst(reason);
            }
            if (node == start) {
                return new Circle(members, reasons);
            }
            reason = why[node].isEmpty() ? reason : why[node];
        }
    }
}
