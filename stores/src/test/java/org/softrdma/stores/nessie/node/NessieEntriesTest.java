package org.softrdma.stores.nessie.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.nessie.layout.NessieShape;

/** Seven entries, and what becomes of them. */
class NessieEntriesTest {
    private static final long REUSE_NS = 1000;
    private static final int ENTRIES = 7;
    private static final NessieShape SAFE = shape(true);

    private final NessieEntries entries = new NessieEntries(SAFE, new SplittableRandom(1));

    private static NessieShape shape(boolean safe) {
        return new NessieShape(1, 3, 3, 3, 7, safe, 8, 8, REUSE_NS);
    }

    private static int[] giveAll(NessieEntries entries) {
        Set<Integer> numbers = new HashSet<>();
        int[] references = new int[ENTRIES];
        for (int i = 0; i < ENTRIES; i++) {
            references[i] = entries.give(1);
            assertNotEquals(0, references[i]);
            assertTrue(numbers.add(SAFE.number(references[i])), "an entry twice");
        }
        assertEquals(0, entries.give(1), "there are no more");
        return references;
    }

    @Test
    void shouldGiveAnEntryAgainOnlyWhenItHasRested() {
        int reference = giveAll(entries)[3];
        assertTrue(entries.takeBack(reference, 500));
        assertEquals(0, entries.release(500 + REUSE_NS - 1));
        assertEquals(0, entries.give(2));
        assertEquals(1, entries.release(500 + REUSE_NS));
        int again = entries.give(2);
        assertEquals(SAFE.number(reference), SAFE.number(again));
        assertNotEquals(reference, again, "the same generation");
    }

    @Test
    void shouldTakeAnEntryBackOnce() {
        int reference = giveAll(entries)[0];
        assertTrue(entries.takeBack(reference, 0));
        assertFalse(entries.takeBack(reference, 0), "it rests");
        assertEquals(1, entries.release(REUSE_NS));
        assertFalse(entries.takeBack(reference, REUSE_NS), "it is free");
        int again = entries.give(2);
        assertFalse(entries.takeBack(reference, REUSE_NS), "a notice of an earlier generation");
        assertTrue(entries.takeBack(again, REUSE_NS));
    }

    @Test
    void shouldTakeBackWhatAConnectionHasNotWritten() {
        int[] references = giveAll(entries);
        entries.ended(2, (number, reference) -> false, 0);
        assertEquals(0, entries.release(REUSE_NS), "of another connection");
        entries.ended(1, (number, reference) -> reference == references[2], 0);
        assertEquals(ENTRIES - 1, entries.release(REUSE_NS));
        for (int i = 0; i < ENTRIES - 1; i++) {
            assertNotEquals(SAFE.number(references[2]), SAFE.number(entries.give(3)));
        }
        assertTrue(entries.isGiven(SAFE.number(references[2])));
        assertEquals(references[2], entries.takeDoubtful(4));
        assertEquals(0, entries.takeDoubtful(4));
        entries.ended(4, (number, reference) -> true, 0);
        assertEquals(references[2], entries.takeDoubtful(5), "who was to find out has gone, too");
    }

    @Test
    void shouldHaveNoGenerationsAsPublished() {
        NessieEntries paper = new NessieEntries(shape(false), new SplittableRandom(1));
        for (int reference : giveAll(paper)) {
            assertEquals(SAFE.number(reference), reference);
        }
    }
}
