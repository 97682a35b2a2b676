package org.softrdma.testkit.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Long histories of a true store: accepted, however many clients run at a time; one wrong answer in them is found. */
class SimulatedHistoriesTest {
    private static final int SEEDS = 300 / Integer.getInteger("softrdma.sample", 1);

    private final long base = Long.getLong("softrdma.seed", 1);

    @ParameterizedTest
    @Tag("sampled")
    @CsvSource({"2,5,false", "8,10,false", "8,10,true", "16,100,false", "16,100,true"})
    void shouldAcceptHistoriesOfATrueStore(int clients, int lostOneIn, boolean mayLose) {
        for (long seed = base; seed < base + SEEDS; seed++) {
            List<Operation<StoreCall, StoreAnswer>> operations =
                    new SimulatedStore(seed, "k", clients, lostOneIn, false, mayLose).run(200);
            HistoryVerdict<StoreCall, StoreAnswer> verdict =
                    new HistoryChecker<>(mayLose ? StoreModel.losing() : StoreModel.keeping()).check(operations);
            String what = "softrdma.seed=" + seed + ": " + verdict;
            assertTrue(verdict.isLinearizable(), what);
        }
    }

    /**
     * A million operations on a hundred keys, 64 clients at each: five seconds on one core of 2.5 GHz with a heap of 1 GB,
     * the making of the histories included. What is asserted is the work, not the time: the rules of {@link NextSteps}
     * leave one step each time.
     */
    @Test
    void shouldCheckAMillionOperationsWithoutSearching() {
        List<Operation<StoreCall, StoreAnswer>> operations = new ArrayList<>();
        for (int key = 0; key < 100; key++) {
            operations.addAll(new SimulatedStore(base + key, "key" + key, 64, 100, true, false).run(10_000));
        }
        HistoryVerdict<StoreCall, StoreAnswer> verdict = new HistoryChecker<>(StoreModel.keeping()).check(operations);
        verdict.requireLinearizable();
        assertTrue(verdict.operations() >= 1_000_000, verdict::toString);
        assertTrue(verdict.states() < 2L * verdict.operations(), () -> verdict.states() + " states: " + verdict);
    }

    @Test
    void shouldFindOneStaleReadAmongTenThousandOperations() {
        for (long seed = base; seed < base + 10; seed++) {
            List<Operation<StoreCall, StoreAnswer>> operations =
                    new SimulatedStore(seed, "k", 32, 100, true, false).run(10_000);
            Operation<StoreCall, StoreAnswer> stale = makeStale(operations, new Random(seed));
            HistoryVerdict<StoreCall, StoreAnswer> verdict =
                    new HistoryChecker<>(StoreModel.keeping()).check(operations);
            String what = "softrdma.seed=" + seed + ": " + verdict;
            assertFalse(verdict.isLinearizable(), what);
            Contradiction<StoreCall, StoreAnswer> contradiction =
                    verdict.contradiction().orElseThrow();
            assertTrue(contradiction.operations().contains(stale), what);
            assertTrue(contradiction.length() <= 4, what);
        }
    }

    /** One get in the second half returns what another had returned long before it began. */
    private static Operation<StoreCall, StoreAnswer> makeStale(
            List<Operation<StoreCall, StoreAnswer>> operations, Random random) {
        int from = random.nextInt(operations.size() / 2);
        int to = operations.size() / 2 + random.nextInt(operations.size() / 4);
        while (!isHit(operations.get(from))) {
            from++;
        }
        while (!isHit(operations.get(to))
                || Objects.equals(
                        operations.get(to).output(), operations.get(from).output())) {
            to++;
        }
        Operation<StoreCall, StoreAnswer> get = operations.get(to);
        Operation<StoreCall, StoreAnswer> stale = new Operation<>(
                get.process(), get.key(), get.input(), operations.get(from).output(), get.invoked(), get.returned());
        operations.set(to, stale);
        return stale;
    }

    private static boolean isHit(Operation<StoreCall, StoreAnswer> operation) {
        return operation.isKnown()
                && operation.input().kind() == StoreCall.Kind.GET
                && !StoreAnswer.MISSING.equals(operation.output());
    }

    @Test
    void shouldSayTheSameTwice() {
        List<Operation<StoreCall, StoreAnswer>> operations =
                new SimulatedStore(base, "k", 16, 50, true, false).run(2000);
        makeStale(operations, new Random(base));
        HistoryChecker<?, StoreCall, StoreAnswer> checker = new HistoryChecker<>(StoreModel.keeping());
        assertEquals(
                checker.check(operations).toString(), checker.check(operations).toString());
    }
}
