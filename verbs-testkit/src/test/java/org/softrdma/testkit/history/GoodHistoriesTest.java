package org.softrdma.testkit.history;

import org.junit.jupiter.api.Test;

/** Histories that look wrong and are not. */
class GoodHistoriesTest {
    private static void accepts(Script script) {
        script.check(StoreModel.keeping()).requireLinearizable();
    }

    private static void acceptsOfALosingStore(Script script) {
        script.check(StoreModel.losing()).requireLinearizable();
    }

    @Test
    void shouldAcceptUnknownWriteThatIsSeenMuchLater() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .lost("b", 20, StoreCall.set(2))
                .got("c", 30, 40, 1)
                .got("c", 500, 510, 1)
                .got("c", 1000, 1010, 2));
    }

    @Test
    void shouldAcceptUnknownWriteThatOverwritesALaterOne() {
        accepts(new Script()
                .lost("b", 0, StoreCall.set(2))
                .done("a", 10, 20, StoreCall.set(1))
                .got("c", 30, 40, 1)
                .got("c", 50, 60, 2));
    }

    @Test
    void shouldAcceptUnknownWriteThatNobodySees() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .lost("b", 20, StoreCall.set(2))
                .lost("b", 25, StoreCall.delete())
                .got("c", 30, 40, 1)
                .got("c", 1000, 1010, 1));
    }

    @Test
    void shouldAcceptTwoConcurrentWritesThatAreSeenInTheOtherOrder() {
        accepts(new Script()
                .done("a", 0, 100, StoreCall.set(1))
                .done("b", 10, 20, StoreCall.set(2))
                .got("c", 30, 40, 2)
                .got("c", 110, 120, 1));
    }

    @Test
    void shouldAcceptWriteThatIsSeenBeforeItReturns() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .done("a", 20, 100, StoreCall.set(2))
                .got("b", 21, 22, 2)
                .got("c", 23, 24, 2)
                .got("c", 90, 95, 2));
    }

    @Test
    void shouldAcceptOverlappingReadsOfWhichTheFirstToReturnSeesTheOlderValue() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .done("a", 20, 100, StoreCall.set(2))
                .got("b", 30, 60, 2)
                .got("c", 40, 50, 1));
    }

    @Test
    void shouldAcceptOverlappingReadsOfWhichTheFirstToBeginSeesTheNewerValue() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .done("a", 20, 30, StoreCall.set(2))
                .got("b", 5, 100, 2)
                .got("c", 15, 25, 1));
    }

    @Test
    void shouldAcceptUnknownDeleteBetweenTwoAdds() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.add(1))
                .lost("b", 20, StoreCall.delete())
                .done("c", 30, 40, StoreCall.add(2))
                .got("d", 50, 60, 2));
    }

    @Test
    void shouldAcceptChainOfUnknownCas() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .lost("b", 20, StoreCall.cas(2, 3))
                .lost("c", 21, StoreCall.cas(1, 2))
                .got("d", 30, 40, 3)
                .done("e", 50, 60, StoreCall.cas(3, 4)));
    }

    @Test
    void shouldAcceptUnknownIncrementsThatCountOneByOne() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .lost("b", 20, StoreCall.increment(1))
                .lost("c", 35, StoreCall.increment(1))
                .got("d", 30, 40, 2)
                .did("e", 50, 60, StoreCall.increment(1), StoreAnswer.value(3))
                .got("d", 70, 80, 4));
    }

    @Test
    void shouldAcceptTheSameValueWrittenTwice() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .done("a", 20, 30, StoreCall.set(2))
                .done("a", 40, 50, StoreCall.set(1))
                .got("b", 5, 60, 2)
                .got("c", 70, 80, 1));
    }

    @Test
    void shouldAcceptReadThatIsOlderThanManyWritesItOverlaps() {
        Script script = new Script().done("a", 0, 1, StoreCall.set(1)).got("b", 2, 1000, 1);
        for (int i = 2; i < 100; i++) {
            script.done("a", 10L * i, 10L * i + 5, StoreCall.set(i));
        }
        accepts(script);
    }

    @Test
    void shouldAcceptAddBetweenTwoDeletesThatOverlapIt() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .done("b", 20, 100, StoreCall.delete())
                .done("c", 30, 90, StoreCall.add(2))
                .done("d", 40, 80, StoreCall.delete())
                .missed("e", 110, 120));
    }

    @Test
    void shouldAcceptRefusalsAndMissesOfOneInstantEach() {
        accepts(new Script()
                .did("a", 0, 100, StoreCall.delete(), StoreAnswer.MISSING)
                .did("b", 10, 90, StoreCall.add(5), StoreAnswer.REFUSED)
                .done("c", 20, 80, StoreCall.set(1))
                .did("d", 30, 70, StoreCall.cas(5, 6), StoreAnswer.REFUSED)
                .did("e", 40, 60, StoreCall.cas(1, 2), StoreAnswer.MISSING));
    }

    @Test
    void shouldTakeOperationsThatShareAnInstantAsOverlapping() {
        accepts(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .missed("b", 10, 10)
                .got("c", 10, 10, 1)
                .got("d", 20, 20, 1));
    }

    @Test
    void shouldAcceptKeyThatVanishesAndIsWrittenAgain() {
        acceptsOfALosingStore(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .got("b", 20, 30, 1)
                .missed("b", 40, 50)
                .done("c", 60, 70, StoreCall.add(2))
                .done("c", 80, 90, StoreCall.add(3))
                .got("b", 100, 110, 3)
                .did("c", 120, 130, StoreCall.cas(3, 4), StoreAnswer.MISSING));
    }

    @Test
    void shouldAcceptKeyThatIsGoneForWantOfMemory() {
        acceptsOfALosingStore(new Script()
                .done("a", 0, 10, StoreCall.set(1))
                .did("a", 20, 100, StoreCall.set(2), StoreAnswer.GONE)
                .got("b", 30, 40, 1)
                .missed("b", 50, 60)
                .missed("c", 110, 120));
    }
}
