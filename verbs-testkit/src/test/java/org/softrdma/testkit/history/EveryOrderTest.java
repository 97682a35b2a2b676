package org.softrdma.testkit.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random histories of at most seven operations: the checker agrees with a trial of all orders, and each operation that it
 * names is needed for the contradiction, and they suffice.
 */
class EveryOrderTest {
    private static final int SEEDS = 10_000;
    private static final int MOST_OPERATIONS = 7;
    private static final int INSTANTS = 14;

    /** The store, without what it knows of operations before their turn. */
    private record Unhinted(StoreModel model) implements Model<OptionalLong, StoreCall, StoreAnswer> {
        @Override
        public OptionalLong initial() {
            return model.initial();
        }

        @Override
        public Optional<OptionalLong> step(OptionalLong state, StoreCall call, @Nullable StoreAnswer answer) {
            return model.step(state, call, answer);
        }
    }

    static Stream<Model<OptionalLong, StoreCall, StoreAnswer>> models() {
        return Stream.of(
                StoreModel.keeping(),
                StoreModel.losing(),
                new Unhinted(StoreModel.keeping()),
                new Unhinted(StoreModel.losing()));
    }

    @ParameterizedTest
    @MethodSource("models")
    void shouldAgreeOnRandomHistories(Model<OptionalLong, StoreCall, StoreAnswer> model) {
        compare(model, EveryOrderTest::history);
    }

    @ParameterizedTest
    @MethodSource("models")
    void shouldAgreeOnHistoriesOfATrueStoreOfWhichOneOperationIsChanged(
            Model<OptionalLong, StoreCall, StoreAnswer> model) {
        compare(model, EveryOrderTest::changedHistory);
    }

    private static void compare(
            Model<OptionalLong, StoreCall, StoreAnswer> model,
            Function<Random, List<Operation<StoreCall, StoreAnswer>>> histories) {
        EveryOrder<OptionalLong, StoreCall, StoreAnswer> everyOrder = new EveryOrder<>(model);
        int linearizable = 0;
        for (long seed : seeds()) {
            List<Operation<StoreCall, StoreAnswer>> history = histories.apply(new Random(seed));
            boolean expected = everyOrder.isLinearizable(history);
            HistoryVerdict<StoreCall, StoreAnswer> verdict = new HistoryChecker<>(model).check(history);
            String what = "softrdma.seed=" + seed + ": " + history + "\n" + verdict;
            assertEquals(List.of(), verdict.undecided(), what);
            assertEquals(expected, verdict.isLinearizable(), what);
            if (expected) {
                linearizable++;
            } else {
                requireAllNeeded(everyOrder, history, verdict.contradiction().orElseThrow(), what);
            }
        }
        if (Long.getLong("softrdma.seed") == null) {
            int found = linearizable;
            assertTrue(
                    found > SEEDS / 20 && found < SEEDS * 19 / 20, () -> found + " of " + SEEDS + " are linearizable");
        }
    }

    private static long[] seeds() {
        Long one = Long.getLong("softrdma.seed");
        return one == null ? LongStream.range(0, SEEDS).toArray() : new long[] {one};
    }

    private static void requireAllNeeded(
            EveryOrder<OptionalLong, StoreCall, StoreAnswer> everyOrder,
            List<Operation<StoreCall, StoreAnswer>> history,
            Contradiction<StoreCall, StoreAnswer> contradiction,
            String what) {
        List<Operation<StoreCall, StoreAnswer>> named = new ArrayList<>(contradiction.operations());
        assertTrue(contradiction.minimal(), what);
        assertTrue(history.containsAll(named), what);
        assertFalse(everyOrder.isLinearizable(allForgottenBut(history, named)), () -> "more is needed: " + what);
        for (Operation<StoreCall, StoreAnswer> operation : contradiction.operations()) {
            named.remove(operation);
            assertTrue(
                    everyOrder.isLinearizable(allForgottenBut(history, named)),
                    () -> operation + " is not needed: " + what);
            named.add(operation);
        }
    }

    private static List<Operation<StoreCall, StoreAnswer>> allForgottenBut(
            List<Operation<StoreCall, StoreAnswer>> history, List<Operation<StoreCall, StoreAnswer>> kept) {
        return history.stream()
                .map(operation -> kept.contains(operation) ? operation : operation.forgotten())
                .toList();
    }

    private static List<Operation<StoreCall, StoreAnswer>> history(Random random) {
        List<Operation<StoreCall, StoreAnswer>> history = new ArrayList<>();
        int count = 2 + random.nextInt(MOST_OPERATIONS - 1);
        int values = 1 + random.nextInt(4);
        int longest = 1 + random.nextInt(INSTANTS);
        for (int i = 0; i < count; i++) {
            long invoked = random.nextInt(INSTANTS);
            StoreCall call = call(random, values);
            history.add(
                    random.nextInt(6) == 0
                            ? Operation.unknown("p" + i, "k", call, invoked)
                            : new Operation<>(
                                    "p" + i,
                                    "k",
                                    call,
                                    answer(random, call, values),
                                    invoked,
                                    invoked + random.nextInt(longest)));
        }
        return history;
    }

    private static List<Operation<StoreCall, StoreAnswer>> changedHistory(Random random) {
        List<Operation<StoreCall, StoreAnswer>> history =
                new SimulatedStore(random.nextLong(), "k", 2, 8, false, random.nextBoolean()).run(MOST_OPERATIONS - 2);
        int changed = random.nextInt(history.size());
        Operation<StoreCall, StoreAnswer> old = history.get(changed);
        StoreAnswer answer = old.output();
        if (answer != null) {
            boolean moves = random.nextInt(3) == 0;
            long by = moves ? random.nextLong(17) - 8 : 0;
            StoreCall another = history.get(random.nextInt(history.size())).input();
            StoreAnswer wrong = old.input().kind() == StoreCall.Kind.GET && another.value() > 1
                    ? StoreAnswer.value(another.value())
                    : answer(random, old.input(), 1);
            history.set(
                    changed,
                    new Operation<>(
                            old.process() + " changed",
                            old.key(),
                            old.input(),
                            moves ? answer : wrong,
                            old.invoked() + by,
                            old.returned() + by));
        }
        return history;
    }

    private static StoreCall call(Random random, int values) {
        long value = 1 + random.nextLong(values);
        return switch (random.nextInt(9)) {
            case 0, 1 -> StoreCall.set(value);
            case 2 -> StoreCall.add(value);
            case 3 -> StoreCall.cas(1 + random.nextInt(values), value);
            case 4 -> StoreCall.delete();
            case 5 -> StoreCall.increment(1 + random.nextInt(2));
            default -> StoreCall.get();
        };
    }

    private static StoreAnswer answer(Random random, StoreCall call, int values) {
        boolean well = random.nextInt(4) > 0;
        return switch (call.kind()) {
            case SET -> random.nextInt(8) > 0 ? StoreAnswer.DONE : StoreAnswer.GONE;
            case ADD -> well ? StoreAnswer.DONE : StoreAnswer.REFUSED;
            case CAS -> well ? StoreAnswer.DONE : random.nextBoolean() ? StoreAnswer.REFUSED : StoreAnswer.MISSING;
            case DELETE -> well ? StoreAnswer.DONE : StoreAnswer.MISSING;
            case GET, INCREMENT -> well ? StoreAnswer.value(1 + random.nextInt(values)) : StoreAnswer.MISSING;
        };
    }
}
