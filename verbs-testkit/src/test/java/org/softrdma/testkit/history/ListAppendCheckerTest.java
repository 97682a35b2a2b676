package org.softrdma.testkit.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.softrdma.testkit.history.ListTransaction.Outcome;

/** Good histories pass, and planted bad ones are refused with the transactions that are to blame. */
class ListAppendCheckerTest {
    private final List<ListTransaction> transactions = new ArrayList<>();
    private final Map<String, List<Long>> last = new HashMap<>();

    private ListTransaction add(
            Outcome outcome, long invoked, long returned, Map<String, List<Long>> reads, Map<String, Long> appends) {
        ListTransaction transaction =
                new ListTransaction("p" + transactions.size(), invoked, returned, outcome, reads, appends);
        transactions.add(transaction);
        return transaction;
    }

    private ListTransaction committed(
            long invoked, long returned, Map<String, List<Long>> reads, Map<String, Long> appends) {
        return add(Outcome.COMMITTED, invoked, returned, reads, appends);
    }

    private ListVerdict check() {
        return ListAppendChecker.check(transactions, last);
    }

    private void requireGuilty(String what, ListTransaction... guilty) {
        ListVerdict verdict = check();
        assertFalse(verdict.isSerializable());
        assertTrue(verdict.violation().contains(what), verdict::toString);
        assertEquals(List.of(guilty).size(), verdict.guilty().size(), verdict::toString);
        assertTrue(verdict.guilty().containsAll(List.of(guilty)), verdict::toString);
        assertThrows(AssertionError.class, verdict::requireSerializable);
    }

    @Test
    void shouldAcceptTransactionsOneAfterTheOther() {
        committed(1, 2, Map.of("x", List.of()), Map.of("x", 1L, "y", 2L));
        committed(3, 4, Map.of("x", List.of(1L), "y", List.of(2L)), Map.of("x", 3L));
        committed(5, 6, Map.of("x", List.of(1L, 3L)), Map.of());
        last.putAll(Map.of("x", List.of(1L, 3L), "y", List.of(2L)));

        check().requireSerializable();
    }

    @Test
    void shouldFindALostUpdate() {
        ListTransaction one = committed(1, 9, Map.of("x", List.of()), Map.of("x", 1L));
        ListTransaction other = committed(2, 8, Map.of("x", List.of()), Map.of("x", 2L));
        last.put("x", List.of(1L, 2L));

        requireGuilty("rw: 1 of x was not read", one, other);
    }

    @Test
    void shouldFindWriteSkew() {
        ListTransaction one = committed(1, 9, Map.of("x", List.of(), "y", List.of()), Map.of("x", 1L));
        ListTransaction other = committed(2, 8, Map.of("x", List.of(), "y", List.of()), Map.of("y", 2L));
        last.putAll(Map.of("x", List.of(1L), "y", List.of(2L)));

        requireGuilty("no order explains these 2", one, other);
    }

    @Test
    void shouldFindAReadOfHalfOfATransaction() {
        ListTransaction writer = committed(1, 9, Map.of(), Map.of("x", 1L, "y", 2L));
        ListTransaction reader = committed(2, 8, Map.of("x", List.of(1L), "y", List.of()), Map.of());
        last.putAll(Map.of("x", List.of(1L), "y", List.of(2L)));

        requireGuilty("wr: 1 of x was read", writer, reader);
    }

    @Test
    void shouldFindAStaleReadAfterAnAnswer() {
        ListTransaction writer = committed(1, 2, Map.of(), Map.of("x", 1L));
        ListTransaction reader = committed(3, 4, Map.of("x", List.of()), Map.of());
        committed(5, 6, Map.of("x", List.of(1L)), Map.of());
        last.put("x", List.of(1L));

        requireGuilty("real time", writer, reader);
    }

    @Test
    void shouldNotCallAReadStaleThatBeganAtTheInstantOfTheAnswer() {
        committed(1, 3, Map.of(), Map.of("x", 1L));
        committed(3, 4, Map.of("x", List.of()), Map.of());
        last.put("x", List.of(1L));

        check().requireSerializable();
    }

    @Test
    void shouldFindAValueOfAnAbortedTransaction() {
        ListTransaction aborted = add(Outcome.ABORTED, 1, 4, Map.of(), Map.of("x", 1L));
        ListTransaction reader = committed(2, 3, Map.of("x", List.of(1L)), Map.of());
        last.put("x", List.of());

        requireGuilty("of an aborted transaction was read", reader, aborted);

        last.put("x", List.of(1L));
        requireGuilty("the last list of x has 1 of an aborted transaction", aborted);
    }

    @Test
    void shouldFindALostAppend() {
        ListTransaction lost = committed(1, 2, Map.of(), Map.of("x", 1L));

        requireGuilty("the last list of x has no 1: the transaction is lost", lost);
    }

    @Test
    void shouldFindHalfOfATransactionOfUnknownOutcome() {
        ListTransaction half = add(Outcome.UNKNOWN, 1, Operation.NEVER, Map.of(), Map.of("x", 1L, "y", 2L));
        last.put("x", List.of(1L));

        requireGuilty("half of the transaction is lost", half);
    }

    @Test
    void shouldAcceptAnUnknownOutcomeThatTookEffectLateOrNever() {
        add(Outcome.UNKNOWN, 1, Operation.NEVER, Map.of("x", List.of()), Map.of("x", 1L));
        add(Outcome.UNKNOWN, 1, 2, Map.of("x", List.of()), Map.of("x", 2L));
        committed(3, 4, Map.of("x", List.of()), Map.of());
        last.put("x", List.of(1L));

        check().requireSerializable();
    }

    @Test
    void shouldRefuseListsThatNobodyCouldHaveWritten() {
        ListTransaction writer = committed(1, 2, Map.of(), Map.of("x", 1L));
        last.put("x", List.of(1L, 1L));
        requireGuilty("has 1 twice", writer);

        last.put("x", List.of(7L));
        requireGuilty("which nobody appended to it");

        last.put("x", List.of(1L));
        ListTransaction reader = committed(3, 4, Map.of("x", List.of(7L)), Map.of());
        requireGuilty("no beginning of the last list", reader);

        committed(5, 6, Map.of(), Map.of("y", 1L));
        assertThrows(IllegalArgumentException.class, this::check);
    }

    /** Every order of up to five transactions, on two lists, against the checker: the same verdict. */
    @Test
    void shouldAgreeWithASearchOfAllOrders() {
        Random random = new Random(40);
        int good = 0;
        int bad = 0;
        for (int run = 0; run < 5_000; run++) {
            transactions.clear();
            last.clear();
            makeHistory(random);
            boolean expected = hasAnOrder();
            assertEquals(expected, check().isSerializable(), () -> transactions + ", last " + last + ": " + check());
            good += expected ? 1 : 0;
            bad += expected ? 0 : 1;
        }
        assertTrue(good > 500 && bad > 500, good + " good, " + bad + " bad");
    }

    /** Transactions that run one after the other, at times that overlap; then something is changed, or nothing. */
    private void makeHistory(Random random) {
        Map<String, List<Long>> lists = new HashMap<>();
        int count = 2 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            Map<String, List<Long>> reads = new HashMap<>();
            Map<String, Long> appends = new HashMap<>();
            for (String key : List.of("x", "y")) {
                List<Long> list = lists.computeIfAbsent(key, any -> new ArrayList<>());
                if (random.nextBoolean()) {
                    int most = list.size();
                    reads.put(
                            key,
                            List.copyOf(list.subList(0, random.nextInt(4) == 0 ? random.nextInt(most + 1) : most)));
                }
                if (random.nextInt(5) < 2) {
                    appends.put(key, i * 2L + (key.equals("x") ? 0 : 1));
                }
            }
            Outcome outcome = Outcome.values()[Math.max(0, random.nextInt(8) - 5)];
            long invoked = i * 2L + random.nextInt(3);
            boolean returns = outcome != Outcome.UNKNOWN || random.nextBoolean();
            add(outcome, invoked, returns ? invoked + 1 + random.nextInt(4) : Operation.NEVER, reads, appends);
            if (outcome == Outcome.COMMITTED || (outcome == Outcome.UNKNOWN && random.nextBoolean())) {
                appends.forEach((key, value) -> {
                    if (random.nextInt(12) > 0) {
                        Objects.requireNonNull(lists.get(key)).add(value);
                    }
                });
            }
        }
        last.putAll(lists);
    }

    private boolean hasAnOrder() {
        List<ListTransaction> rest = new ArrayList<>(transactions.stream()
                .filter(it -> it.outcome() != Outcome.ABORTED)
                .toList());
        return hasAnOrder(rest, new HashMap<>(Map.of("x", List.of(), "y", List.of())));
    }

    private boolean hasAnOrder(List<ListTransaction> rest, Map<String, List<Long>> lists) {
        if (rest.stream().allMatch(it -> it.outcome() == Outcome.UNKNOWN)
                && last.entrySet().stream().allMatch(it -> it.getValue().equals(lists.get(it.getKey())))) {
            return true;
        }
        for (ListTransaction first : rest) {
            if (rest.stream().noneMatch(it -> it != first && mustPrecede(it, first))
                    && first.reads().entrySet().stream()
                            .allMatch(it -> it.getValue().equals(lists.get(it.getKey())))) {
                List<ListTransaction> others = new ArrayList<>(rest);
                others.remove(first);
                Map<String, List<Long>> after = new HashMap<>(lists);
                first.appends().forEach((key, value) -> {
                    List<Long> longer = new ArrayList<>(Objects.requireNonNull(after.get(key)));
                    longer.add(value);
                    after.put(key, longer);
                });
                if (hasAnOrder(others, after)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean mustPrecede(ListTransaction one, ListTransaction other) {
        return one.outcome() == Outcome.COMMITTED && one.returned() < other.invoked();
    }

    @Test
    void shouldTakeTimeInProportionToTheHistory() {
        int count = 10_000;
        List<Long> list = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            String key = "k" + i / 50;
            committed(i, i + 20, Map.of(key, List.copyOf(list.subList((int) (i / 50 * 50), (int) i))), Map.of(key, i));
            list.add(i);
        }
        IntStream.range(0, count / 50).forEach(i -> last.put("k" + i, List.copyOf(list.subList(i * 50, i * 50 + 50))));

        check().requireSerializable();
    }

    @Test
    void shouldWriteHistoriesAsJepsenDoes() {
        committed(1, 5, Map.of("x", List.of()), Map.of("x", 1L));
        add(Outcome.ABORTED, 2, 3, Map.of("x", List.of()), Map.of("y", 2L));
        add(Outcome.UNKNOWN, 4, Operation.NEVER, Map.of(), Map.of("x", 3L));
        add(Outcome.UNKNOWN, 6, 7, Map.of(), Map.of("x", 4L));
        committed(8, 9, Map.of("x", List.of(1L, 4L)), Map.of());
        last.put("x", List.of(1L, 4L));

        assertEquals("""
            {:index 0, :time 1, :process 0, :type :invoke, :f :txn, :value [[:r "x" nil] [:append "x" 1]]}
            {:index 1, :time 2, :process 1, :type :invoke, :f :txn, :value [[:r "x" nil] [:append "y" 2]]}
            {:index 2, :time 3, :process 1, :type :fail, :f :txn, :value [[:r "x" nil] [:append "y" 2]]}
            {:index 3, :time 4, :process 1, :type :invoke, :f :txn, :value [[:append "x" 3]]}
            {:index 4, :time 5, :process 0, :type :ok, :f :txn, :value [[:r "x" []] [:append "x" 1]]}
            {:index 5, :time 6, :process 0, :type :invoke, :f :txn, :value [[:append "x" 4]]}
            {:index 6, :time 7, :process 0, :type :info, :f :txn, :value [[:append "x" 4]]}
            {:index 7, :time 8, :process 2, :type :invoke, :f :txn, :value [[:r "x" nil]]}
            {:index 8, :time 9, :process 2, :type :ok, :f :txn, :value [[:r "x" [1 4]]]}
            {:index 9, :time 10, :process 2, :type :invoke, :f :txn, :value [[:r "x" nil]]}
            {:index 10, :time 11, :process 2, :type :ok, :f :txn, :value [[:r "x" [1 4]]]}
            """, EdnHistory.of(transactions, last));
    }
}
