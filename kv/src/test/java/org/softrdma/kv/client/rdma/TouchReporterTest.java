package org.softrdma.kv.client.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.message.TouchReportDescriptor;

class TouchReporterTest {
    private static final long START = 64;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(START + TouchReportDescriptor.MAX_LENGTH, 8);
    private final TouchCounts counts = new TouchCounts();
    private final TouchReporter touches = new TouchReporter(memory, START, new RecentlyNamed(), counts);

    @AfterEach
    void free() {
        arena.close();
    }

    @Test
    void shouldMergeReadsOfOneItem() {
        for (int i = 0; i < 12; i++) {
            touches.add(i % 3, i % 2, 0);
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
            touches.add(7, 1, 0);
        }
        touches.add(8, 1, 0);
        touches.add(7, 3, 0);
        assertEquals(TouchReportDescriptor.length(3), touches.seal());
        assertEquals(2, TouchReportDescriptor.hits(memory, START, 0));
        assertEquals(8, TouchReportDescriptor.unnamedHits(memory, START));

        touches.add(7, 1, TouchReporter.FIRST_INTERVAL_NS - 1);
        assertEquals(TouchReportDescriptor.length(0), touches.seal());
        assertEquals(1, TouchReportDescriptor.unnamedHits(memory, START));

        touches.add(7, 1, TouchReporter.FIRST_INTERVAL_NS);
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        assertEquals(7, TouchReportDescriptor.first(memory, START, 0));
        assertEquals(1, TouchReportDescriptor.hits(memory, START, 0));
        assertEquals(0, TouchReportDescriptor.unnamedHits(memory, START));
    }

    @Test
    void shouldNameItemsAsOftenAsTheServerSays() {
        touches.interval(60);
        touches.add(7, 1, 0);
        touches.add(7, 1, 0);
        touches.add(7, 1, TimeUnit.SECONDS.toNanos(60) - 1);
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        touches.interval(1);
        touches.add(7, 1, TimeUnit.SECONDS.toNanos(1));
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        touches.interval(-5);
        touches.add(7, 1, TimeUnit.SECONDS.toNanos(1));
        touches.add(7, 1, TimeUnit.SECONDS.toNanos(1));
        touches.add(7, 1, TimeUnit.SECONDS.toNanos(2));
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        assertEquals(2, TouchReportDescriptor.hits(memory, START, 0));
        assertEquals(1, TouchReportDescriptor.unnamedHits(memory, START));
    }

    @Test
    void shouldBeDueForReadsThatNameNothing() {
        touches.add(1, 1, 0);
        touches.add(1, 1, 0);
        touches.seal();
        touches.partDone();
        touches.partDone();
        touches.add(1, 1, 5);
        assertTrue(touches.isUnfinished());
        assertFalse(touches.isDue(4 + TouchReporter.MAX_AGE_NS));
        assertTrue(touches.isDue(5 + TouchReporter.MAX_AGE_NS));
    }

    @Test
    void shouldBeDueWhenOldOrFullAndTheLastOneIsDone() {
        assertFalse(touches.isDue(Long.MAX_VALUE));
        assertEquals(Long.MAX_VALUE, touches.dueInNs(0));
        touches.add(1, 1, 100);
        touches.add(2, 1, 200);
        assertFalse(touches.isDue(99 + TouchReporter.MAX_AGE_NS));
        assertEquals(1, touches.dueInNs(99 + TouchReporter.MAX_AGE_NS));
        assertTrue(touches.isDue(100 + TouchReporter.MAX_AGE_NS));
        touches.seal();
        for (int i = 0; i < TouchReportDescriptor.MAX_RECORDS; i++) {
            touches.add(i, 1, 300);
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
            touches.add(i, 1, 0);
        }
        assertEquals(TouchReportDescriptor.MAX_RECORDS, counts.dropped());
        assertEquals(TouchReportDescriptor.MAX_LENGTH, touches.seal());
        assertEquals(TouchReportDescriptor.MAX_RECORDS, TouchReportDescriptor.unnamedHits(memory, START));
    }

    @Test
    void shouldNameAtTheNextOccasionWhatDidNotFit() {
        for (int i = 0; i < TouchReportDescriptor.MAX_RECORDS + 1; i++) {
            touches.add(i, 1, 0);
            touches.add(i, 1, 0);
        }
        touches.seal();
        touches.add(TouchReportDescriptor.MAX_RECORDS, 1, 1);
        touches.add(TouchReportDescriptor.MAX_RECORDS, 1, 1);
        assertEquals(TouchReportDescriptor.length(1), touches.seal());
        assertEquals(TouchReportDescriptor.MAX_RECORDS, TouchReportDescriptor.first(memory, START, 0));
        assertEquals(2, TouchReportDescriptor.hits(memory, START, 0));
    }
}
