package org.softrdma.kv.client.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.message.TouchReportDescriptor;

class TouchReporterTest {
    private static final long START = 64;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(START + TouchReportDescriptor.MAX_LENGTH, 8);
    private final TouchCounts counts = new TouchCounts();
    private final TouchReporter touches = new TouchReporter(memory, START, counts);
    /** What is kept with each locator. */
    private final Map<List<Long>, Long> named = new HashMap<>();

    @AfterEach
    void free() {
        arena.close();
    }

    private void touch(long first, int generation, long nowNs) {
        named.compute(
                List.of(first, (long) generation),
                (locator, word) -> touches.add(first, generation, word == null ? 0 : word, nowNs));
    }

    @Test
    void shouldMergeReadsOfOneItem() {
        for (int i = 0; i < 12; i++) {
            touch(i % 3, i % 2, 0);
        }
        assertEquals(TouchReportDescriptor.length(6), touches.seal());
        assertEquals(6, TouchReportDescriptor.count(memory, START));
        for (int i = 0; i < 6; i++) {
            assertEquals(i % 3, TouchReportDescriptor.first(memory, START, i));
            assertEquals(i % 2, TouchReportDescriptor.generation(memory, START, i));
            assertEquals(2, TouchReportDescriptor.hits(memory, START, i));
        }
        assertEquals(0, TouchReportDescriptor.unnamedHits(memory, START));
        assertEquals(1, counts.reports());
    }

    @Test
    void shouldNameAnItemTwiceAnIntervalAndCountTheRest() {
        for (int i = 0; i < 10; i++) {
            touch(7, 1, 0);
        }
        touch(8, 1, 0);
        touch(7, 3, 0);
        assertEquals(TouchReportDescriptor.length(3), touches.seal());
        assertEquals(2, TouchReportDescriptor.hits(memory, START, 0));
        assertEquals(8, TouchReportDescriptor.unnamedHits(memory, START));

        touch(7, 1, TouchReporter.FIRST_INTERVAL_NS - 1);
        assertEquals(TouchReportDescriptor.length(0), touches.seal());
        assertEquals(1, TouchReportDescriptor.unnamedHits(memory, START));

        touch(7, 1, TouchReporter.FIRST_INTERVAL_NS);
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        assertEquals(7, TouchReportDescriptor.first(memory, START, 0));
        assertEquals(1, TouchReportDescriptor.hits(memory, START, 0));
        assertEquals(0, TouchReportDescriptor.unnamedHits(memory, START));
    }

    @Test
    void shouldNameItemsAsOftenAsTheServerSays() {
        touches.interval(60);
        touch(7, 1, 0);
        touch(7, 1, 0);
        touch(7, 1, TimeUnit.SECONDS.toNanos(60) - 1);
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        touches.interval(1);
        touch(7, 1, TimeUnit.SECONDS.toNanos(1));
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        touches.interval(-5);
        touch(7, 1, TimeUnit.SECONDS.toNanos(1));
        touch(7, 1, TimeUnit.SECONDS.toNanos(1));
        touch(7, 1, TimeUnit.SECONDS.toNanos(2));
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        assertEquals(2, TouchReportDescriptor.hits(memory, START, 0));
        assertEquals(1, TouchReportDescriptor.unnamedHits(memory, START));
    }

    @Test
    void shouldBeDueForReadsThatNameNothing() {
        touch(1, 1, 0);
        touch(1, 1, 0);
        touches.seal();
        touches.partDone();
        touches.partDone();
        touch(1, 1, 5);
        assertTrue(touches.isUnfinished());
        assertFalse(touches.isDue(4 + TouchReporter.MAX_AGE_NS));
        assertTrue(touches.isDue(5 + TouchReporter.MAX_AGE_NS));
    }

    @Test
    void shouldBeDueWhenOldOrFullAndTheLastOneIsDone() {
        assertFalse(touches.isDue(Long.MAX_VALUE));
        assertEquals(Long.MAX_VALUE, touches.dueInNs(0));
        touch(1, 1, 100);
        touch(2, 1, 200);
        assertFalse(touches.isDue(99 + TouchReporter.MAX_AGE_NS));
        assertEquals(1, touches.dueInNs(99 + TouchReporter.MAX_AGE_NS));
        assertTrue(touches.isDue(100 + TouchReporter.MAX_AGE_NS));
        touches.seal();
        for (int i = 0; i < TouchReportDescriptor.MAX_RECORDS; i++) {
            touch(i, 1, 300);
        }
        assertFalse(touches.isDue(300), "the last one is on its way");
        touches.partDone();
        assertFalse(touches.isDue(300), "its SEND is complete or it is answered, not both");
        touches.partDone();
        assertTrue(touches.isDue(300), "full");
        assertTrue(touches.isUnfinished());
        touches.seal();
        touches.partDone();
        touches.partDone();
        assertFalse(touches.isUnfinished());
    }

    @Test
    void shouldCountWhatDoesNotFit() {
        for (int i = 0; i < 2 * TouchReportDescriptor.MAX_RECORDS; i++) {
            touch(i, 1, 0);
        }
        assertEquals(TouchReportDescriptor.MAX_RECORDS, counts.dropped());
        assertEquals(TouchReportDescriptor.MAX_LENGTH, touches.seal());
        assertEquals(TouchReportDescriptor.MAX_RECORDS, TouchReportDescriptor.unnamedHits(memory, START));
    }

    @Test
    void shouldNameAtTheNextOccasionWhatDidNotFit() {
        for (int i = 0; i < TouchReportDescriptor.MAX_RECORDS + 1; i++) {
            touch(i, 1, 0);
            touch(i, 1, 0);
        }
        touches.seal();
        touch(TouchReportDescriptor.MAX_RECORDS, 1, 1);
        touch(TouchReportDescriptor.MAX_RECORDS, 1, 1);
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        assertEquals(TouchReportDescriptor.MAX_RECORDS, TouchReportDescriptor.first(memory, START, 0));
        assertEquals(2, TouchReportDescriptor.hits(memory, START, 0));
    }

    @Test
    void shouldNameAnotherItemOfAChunkAlthoughTheLastOneWasNamed() {
        long word = touches.add(7, 1, 0, 0);
        word = touches.add(7, 1, word, 0);
        word = touches.add(7, 3, word, 0);
        word = touches.add(7, 3, word, 0);
        long ignored = touches.add(7, 3, word, 0);
        assertEquals(TouchReportDescriptor.length(2), touches.seal());
        assertEquals(2, TouchReportDescriptor.hits(memory, START, 1));
        assertEquals(1, TouchReportDescriptor.unnamedHits(memory, START));
    }

    @Test
    void shouldNameAnItemAgainAfterAnyTime() {
        long start = Long.MAX_VALUE - TouchReporter.FIRST_INTERVAL_NS / 2; // the clock wraps within the interval
        long word = touches.add(7, 1, 0, start);
        word = touches.add(7, 1, word, start);
        assertEquals(word, touches.add(7, 1, word, start + TouchReporter.FIRST_INTERVAL_NS - 1_000_000));
        assertNotEquals(word, touches.add(7, 1, word, start + TouchReporter.FIRST_INTERVAL_NS));
    }
}
