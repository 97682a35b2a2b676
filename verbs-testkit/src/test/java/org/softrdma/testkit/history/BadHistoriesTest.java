package org.softrdma.testkit.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Histories that cannot be, each for another reason; the operations that say so are named, and no others. */
class BadHistoriesTest {
    private static void refuses(Script script, String... operations) {
        refuses(StoreModel.keeping(), script, operations);
    }

    private static void refuses(StoreModel model, Script script, String... operations) {
        HistoryVerdict<StoreCall, StoreAnswer> verdict = script.check(model);
        assertFalse(verdict.isLinearizable());
        assertEquals(
                List.of(operations), words(verdict.contradiction().orElseThrow().operations()), verdict::toString);
    }

    private static List<String> words(List<Operation<StoreCall, StoreAnswer>> operations) {
        return operations.stream()
                .map(operation -> operation.process() + ": " + operation.words())
                .toList();
    }

    private static List<String> beside(Script script) {
        return words(
                script.check(StoreModel.keeping()).contradiction().orElseThrow().beside());
    }

    @Test
    void shouldRefuseStaleRead() {
        refuses(
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .done("a", 20, 30, StoreCall.set(2))
                        .got("c", 40, 50, 1),
                "a: set 1 -> done",
                "a: set 2 -> done",
                "c: get -> 1");
    }

    @Test
    void shouldRefuseLostUpdate() {
        refuses(
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .did("b", 20, 40, StoreCall.increment(1), StoreAnswer.value(2))
                        .did("c", 30, 50, StoreCall.increment(1), StoreAnswer.value(2)),
                "b: increment by 1 -> 2",
                "c: increment by 1 -> 2");
    }

    @Test
    void shouldRefuseReadOfTheFuture() {
        Script script = new Script()
                .done("a", 0, 5, StoreCall.set(1))
                .got("b", 10, 20, 7)
                .done("a", 30, 40, StoreCall.set(7));
        refuses(script, "b: get -> 7");
        assertEquals(List.of("a: set 7 -> done"), beside(script));
    }

    @Test
    void shouldRefuseValueOutOfThinAir() {
        Script script = new Script().done("a", 0, 10, StoreCall.set(1)).got("b", 20, 30, 7);
        refuses(script, "b: get -> 7");
        assertEquals(List.of(), beside(script));
    }

    @Test
    void shouldRefuseTwoCasOfTheSameValue() {
        Script script = new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .done("b", 20, 50, StoreCall.cas(1, 2))
                .done("c", 30, 40, StoreCall.cas(1, 3));
        refuses(script, "b: cas 1 to 2 -> done", "c: cas 1 to 3 -> done");
        assertEquals(List.of("a: set 1 -> done"), beside(script));
    }

    @Test
    void shouldRefuseResurrectedDelete() {
        refuses(
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .done("b", 20, 30, StoreCall.delete())
                        .got("c", 40, 50, 1),
                "b: delete -> done",
                "c: get -> 1");
    }

    @Test
    void shouldRefuseReadsOfOneProcessThatGoBack() {
        refuses(
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .done("a", 20, 100, StoreCall.set(2))
                        .got("b", 30, 40, 2)
                        .got("b", 50, 60, 1)
                        .got("b", 110, 120, 2),
                "a: set 1 -> done",
                "b: get -> 2",
                "b: get -> 1");
    }

    @Test
    void shouldRefuseReadsOfTwoProcessesThatGoBack() {
        refuses(
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .done("a", 20, 100, StoreCall.set(2))
                        .got("b", 30, 40, 2)
                        .got("c", 41, 60, 1),
                "a: set 1 -> done",
                "b: get -> 2",
                "c: get -> 1");
    }

    @Test
    void shouldRefuseUnknownWriteThatIsSeenAndThenUnseen() {
        Script script = new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .lost("b", 20, StoreCall.set(2))
                .got("c", 30, 40, 2)
                .got("d", 50, 60, 1);
        refuses(script, "a: set 1 -> done", "c: get -> 2", "d: get -> 1");
        assertEquals(List.of("b: set 2, unknown"), beside(script));
    }

    @Test
    void shouldRefuseUnknownWriteThatIsSeenBeforeItBegan() {
        Script script =
                new Script().got("a", 0, 10, 1).lost("b", 20, StoreCall.set(1)).got("c", 30, 40, 1);
        refuses(script, "a: get -> 1");
        assertEquals(List.of("b: set 1, unknown"), beside(script));
    }

    @Test
    void shouldRefuseMissOfAKeyThatIsKept() {
        refuses(
                new Script().done("a", 0, 10, StoreCall.set(1)).missed("b", 20, 30),
                "a: set 1 -> done",
                "b: get -> missing");
    }

    @Test
    void shouldRefuseTwoAddsOfOneKey() {
        refuses(
                new Script().done("a", 0, 20, StoreCall.add(1)).done("b", 10, 30, StoreCall.add(2)),
                "a: add 1 -> done",
                "b: add 2 -> done");
    }

    @Test
    void shouldRefuseTwoDeletesOfOneValue() {
        refuses(
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .done("b", 20, 40, StoreCall.delete())
                        .done("c", 30, 50, StoreCall.delete()),
                "b: delete -> done",
                "c: delete -> done");
    }

    @Test
    void shouldRefuseTwoReadersThatSeeTwoOrders() {
        refuses(
                new Script()
                        .done("a", 0, 100, StoreCall.set(1))
                        .done("b", 0, 100, StoreCall.set(2))
                        .got("c", 20, 30, 1)
                        .got("c", 40, 50, 2)
                        .got("d", 21, 31, 2)
                        .got("d", 41, 51, 1),
                "c: get -> 1",
                "d: get -> 2",
                "c: get -> 2",
                "d: get -> 1");
    }

    @Test
    void shouldRefuseCasThatRefusesTheValueThatIsThere() {
        refuses(
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .did("b", 20, 30, StoreCall.cas(1, 2), StoreAnswer.REFUSED),
                "b: cas 1 to 2 -> refused");
    }

    @Test
    void shouldRefuseSumThatSkipsANumber() {
        refuses(
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .lost("b", 15, StoreCall.increment(1))
                        .did("c", 20, 30, StoreCall.increment(1), StoreAnswer.value(4)),
                "c: increment by 1 -> 4");
    }

    @Test
    void shouldRefuseLostIncrementThatCountsTwice() {
        refuses(
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .lost("b", 15, StoreCall.increment(1))
                        .got("c", 20, 30, 2)
                        .got("d", 40, 50, 3),
                "d: get -> 3");
    }

    @Test
    void shouldRefuseKeyThatVanishesAndComesBack() {
        refuses(
                StoreModel.losing(),
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .missed("b", 20, 30)
                        .got("c", 40, 50, 1),
                "a: set 1 -> done",
                "b: get -> missing",
                "c: get -> 1");
    }

    @Test
    void shouldRefuseValueThatNeverWasStored() {
        refuses(
                StoreModel.losing(),
                new Script()
                        .done("a", 0, 10, StoreCall.set(1))
                        .did("a", 20, 30, StoreCall.set(2), StoreAnswer.GONE)
                        .got("b", 40, 50, 2),
                "a: set 2 -> gone",
                "b: get -> 2");
    }
}
