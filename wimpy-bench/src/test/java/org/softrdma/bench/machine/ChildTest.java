package org.softrdma.bench.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.softrdma.bench.measurement.MeasurementException;

class ChildTest {
    private static final long SECONDS = 20;

    @Test
    void shouldSpeakInLinesAndEndWithItsInput() throws IOException {
        Child child = Child.start(
                "echo", List.of("sh", "-c", "echo noise; echo LISTENING 17; while read l; do echo GOT $l; done"));
        try (child) {
            assertEquals("17", child.await("LISTENING", SECONDS));
            child.send("hello");
            assertEquals("hello", child.await("GOT", SECONDS));
            child.suspend();
            child.resume();
            child.send("again");
            assertEquals("GOT again", child.nextLine(SECONDS));
        }
        assertFalse(child.isAlive());
    }

    @Test
    void shouldTellWhatAChildWroteToItsStandardErrorWhenItEndsTooEarly() throws IOException {
        try (Child child = Child.start("failing", List.of("sh", "-c", "echo it hurts >&2; exit 3"))) {
            MeasurementException failure =
                    assertThrows(MeasurementException.class, () -> child.await("READY", SECONDS));

            assertTrue(failure.toString().contains("failing ended before it said READY"), failure.toString());
            assertTrue(failure.toString().contains("it hurts"), failure.toString());
        }
    }

    @Test
    void shouldTellWhichSignalEndedAChild() throws IOException {
        try (Child child = Child.start("killed", List.of("sh", "-c", "kill -9 $$"))) {
            assertEquals(OptionalInt.of(128 + 9), child.exitCode(SECONDS));
        }
        try (Child child = Child.start("cat", List.of("cat"))) {
            assertEquals(OptionalInt.empty(), child.exitCode(0));
        }
    }

    @Test
    void shouldEndAChildThatWasSuspended() throws IOException {
        Child child = Child.start("cat", List.of("cat"));
        child.suspend();

        child.close();

        assertFalse(child.isAlive());
    }
}
