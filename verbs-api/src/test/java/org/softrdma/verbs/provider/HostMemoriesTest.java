package org.softrdma.verbs.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HostMemoriesTest {
    private static final int BYTES = 64;

    @Test
    void shouldFreeAbandonedMemoryOnceAlsoWhenItWasClosedWhileRegistered() {
        AtomicInteger freed = new AtomicInteger();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(BYTES);
            HostMemories.Allocation memory = HostMemories.add(segment, false, freed::incrementAndGet);
            assertNotNull(HostMemories.acquire(segment));
            memory.close();
            assertEquals(0, freed.get(), "a registration still uses it");

            memory.abandon();
            memory.abandon();
            memory.close();

            assertEquals(1, freed.get());
            assertNull(HostMemories.acquire(segment), "nobody knows this memory any more");
        }
    }

    @Test
    void shouldFreeAbandonedMemoryOnce() {
        AtomicInteger freed = new AtomicInteger();
        try (Arena arena = Arena.ofConfined()) {
            HostMemories.Allocation memory = HostMemories.add(arena.allocate(BYTES), false, freed::incrementAndGet);

            memory.abandon();
            memory.close();

            assertEquals(1, freed.get());
        }
    }
}
