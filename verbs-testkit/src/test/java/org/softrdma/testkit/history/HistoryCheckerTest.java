package org.softrdma.testkit.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the checker says, of what it could decide and of what it could not. */
class HistoryCheckerTest {
    /** A queue, to have a model whose state is not one value, and that knows nothing of operations before their turn. */
    private static final class QueueModel implements Model<List<Integer>, Integer, Integer> {
        private static final int TAKE = 0;

        @Override
        public List<Integer> initial() {
            return List.of();
        }

        @Override
        public Optional<List<Integer>> step(List<Integer> state, Integer input, @Nullable Integer output) {
            if (input != TAKE) {
                List<Integer> longer = new ArrayList<>(state);
                longer.add(input);
                return Optional.of(longer);
            }
            return !state.isEmpty() && (output == null || state.getFirst().equals(output))
                    ? Optional.of(List.copyOf(state.subList(1, state.size())))
                    : Optional.empty();
        }
    }

    private static List<Operation<Integer, Integer>> puts(int count, int firstTaken) {
        List<Operation<Integer, Integer>> operations = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            operations.add(new Operation<>("p" + i, "q", i, i, 0, 100));
        }
        operations.add(new Operation<>("taker", "q", QueueModel.TAKE, firstTaken, 200, 210));
        return operations;
    }

    @Test
    void shouldCheckModelsOfAnyState() {
        HistoryChecker<?, Integer, Integer> checker = new HistoryChecker<>(new QueueModel());
        checker.check(puts(6, 3)).requireLinearizable();
        HistoryVerdict<Integer, Integer> verdict = checker.check(puts(6, 7));
        assertEquals(
                List.of("taker"),
                verdict.contradiction().orElseThrow().operations().stream()
                        .map(Operation::process)
                        .toList());
    }

    @Test
    void shouldSayUndecidedWhenTheSearchIsTooLarge() {
        HistoryVerdict<Integer, Integer> verdict = new HistoryChecker<>(new QueueModel(), 1000).check(puts(20, 21));
        assertFalse(verdict.isLinearizable());
        assertEquals(List.of("q"), verdict.undecided());
        assertEquals(List.of(), verdict.contradictory());
        AssertionError error = assertThrows(AssertionError.class, verdict::requireLinearizable);
        assertEquals(
                "history of 21 operations, 1 key: undecided within 1000 states, key q: allow more states, or let fewer operations"
                        + " run at a time",
                error.getMessage());
    }

    @Test
    void shouldSayThatItGaveUpTheSearchForFewerOperations() {
        Contradiction<Integer, Integer> all = new ContradictionFinder<>(new QueueModel(), 10).shorten(puts(6, 7));
        assertEquals(7, all.length());
        assertFalse(all.minimal());
        assertTrue(all.toString()
                .startsWith("key q: no order explains these 7 operations; the search for fewer was given up"));
    }

    @Test
    void shouldDrawTheContradiction() {
        HistoryVerdict<StoreCall, StoreAnswer> verdict = new Script()
                .done("writer", 1000, 1010, StoreCall.set(1))
                .lost("other", 1020, StoreCall.set(2))
                .got("reader 3", 1021, 1022, 1)
                .got("reader 1", 1030, 1040, 2)
                .got("reader 2", 1050, 1060, 1)
                .check(StoreModel.keeping());
        AssertionError error = assertThrows(AssertionError.class, verdict::requireLinearizable);
        assertEquals("""
                history of 5 operations, 1 key: not linearizable, key k
                key k: no order explains these 3 operations
                  writer    |---|                          set 1 -> done   [0, 10]
                  other             |------------------->  set 2, unknown  [20, never]  does not help
                  reader 1              |---|              get -> 2        [30, 40]
                  reader 2                      |---|      get -> 1        [50, 60]
                The key has 1 more: none helps, whenever it took effect after its invocation.""", error.getMessage());
    }

    @Test
    void shouldReportTheShortestContradictionOfAllKeys() {
        List<Operation<StoreCall, StoreAnswer>> operations = new ArrayList<>();
        operations.add(new Operation<>("a", "long", StoreCall.set(1), StoreAnswer.DONE, 0, 1));
        operations.add(new Operation<>("a", "long", StoreCall.get(), StoreAnswer.MISSING, 2, 3));
        operations.add(new Operation<>("a", "good", StoreCall.set(1), StoreAnswer.DONE, 0, 1));
        operations.add(new Operation<>("a", "short", StoreCall.get(), StoreAnswer.value(1), 2, 3));
        HistoryVerdict<StoreCall, StoreAnswer> verdict = new HistoryChecker<>(StoreModel.keeping()).check(operations);
        assertEquals(List.of("long", "short"), verdict.contradictory());
        assertEquals("short", verdict.contradiction().orElseThrow().key());
        assertEquals(3, verdict.keys());
    }

    @Test
    void shouldAcceptTheEmptyHistory() {
        HistoryVerdict<StoreCall, StoreAnswer> verdict = new HistoryChecker<>(StoreModel.keeping()).check(List.of());
        assertTrue(verdict.isLinearizable());
        assertEquals("history of 0 operations, 0 keys: linearizable", verdict.toString());
    }

    @Test
    void shouldRefuseAModelWhoseEffectIsNotItsStep() {
        Model<OptionalLong, StoreCall, StoreAnswer> lying = new Model<>() {
            private final StoreModel model = StoreModel.keeping();

            @Override
            public OptionalLong initial() {
                return model.initial();
            }

            @Override
            public Optional<OptionalLong> step(OptionalLong state, StoreCall call, @Nullable StoreAnswer answer) {
                return model.step(state, call, answer);
            }

            @Override
            public Effect<OptionalLong> effect(StoreCall call, @Nullable StoreAnswer answer) {
                return Effect.writes(OptionalLong.of(5));
            }
        };
        List<Operation<StoreCall, StoreAnswer>> operations =
                List.of(new Operation<>("a", "k", StoreCall.set(1), StoreAnswer.DONE, 0, 1));
        HistoryChecker<OptionalLong, StoreCall, StoreAnswer> checker = new HistoryChecker<>(lying);
        assertThrows(IllegalStateException.class, () -> checker.check(operations));
    }

    @Test
    void shouldRefuseTimesAndAnswersThatCannotBe() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new Operation<>("a", "k", StoreCall.set(1), StoreAnswer.DONE, 10, 9));
        assertThrows(
                IllegalArgumentException.class,
                () -> new Operation<>("a", "k", StoreCall.set(1), StoreAnswer.DONE, 10, Operation.NEVER));
        List<Operation<StoreCall, StoreAnswer>> nonsense =
                List.of(new Operation<>("a", "k", StoreCall.get(), StoreAnswer.DONE, 0, 1));
        HistoryChecker<OptionalLong, StoreCall, StoreAnswer> checker = new HistoryChecker<>(StoreModel.keeping());
        assertThrows(IllegalArgumentException.class, () -> checker.check(nonsense));
    }
}
