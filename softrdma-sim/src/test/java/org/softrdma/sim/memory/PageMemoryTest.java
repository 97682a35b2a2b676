package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

class PageMemoryTest {
    /** No address space has so much; with the last two, rounding up leaves the range of a long. */
    @ParameterizedTest
    @ValueSource(longs = {1L << 60, Long.MAX_VALUE - 100, Long.MAX_VALUE})
    void shouldSayWhyMemoryCannotBeMapped(long length) {
        VerbsException refusal =
                assertThrows(VerbsException.class, () -> PageMemory.allocate(length, new MemorySource.Anonymous(), 0));

        assertEquals(VerbsErrorCode.NO_RESOURCES, refusal.code());
        String message = String.valueOf(refusal.getMessage());
        assertTrue(message.startsWith("cannot map " + length + " bytes: "), message);
        assertTrue(length > 1L << 60 || message.contains("errno 12"), message);
    }
}
