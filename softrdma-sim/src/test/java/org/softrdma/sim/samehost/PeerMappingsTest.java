package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.net.memory.NativeMemory;

/** One mapping for all connections that were handed the same memory, for as long as one of them reads it. */
class PeerMappingsTest {
    private static final int LENGTH = 8192;
    private static final String NAME = "softrdma mappings test";

    private final PeerMappings mappings = new PeerMappings();

    @Test
    void shouldMapOnceWhatSeveralConnectionsWereHanded() throws IOException {
        try (SealedMemory memory = SealedMemory.create(NAME, LENGTH)) {
            NativeMemory.putByte(memory.address(), 42);
            PeerMappings.Mapping one = open(memory, LENGTH);
            NativeMemory.putByte(memory.address() + LENGTH - 1, 42); // sets the times of the file
            PeerMappings.Mapping other = open(memory, LENGTH);
            assertEquals(one.address(), other.address());
            assertEquals(2, mapped(), "the owner's, and one");
            one.close();
            assertEquals(2, mapped(), "the other reads it");
            assertEquals(42, NativeMemory.getByte(other.address()));
            other.close();
            assertEquals(1, mapped());
            try (PeerMappings.Mapping again = open(memory, LENGTH)) {
                assertEquals(42, NativeMemory.getByte(again.address()));
            }
        }
        assertEquals(0, mapped());
    }

    @Test
    void shouldMapOtherMemoryElsewhere() throws IOException {
        try (SealedMemory memory = SealedMemory.create(NAME, LENGTH);
                SealedMemory other = SealedMemory.create(NAME, LENGTH);
                PeerMappings.Mapping mapping = open(memory, LENGTH);
                PeerMappings.Mapping part = open(memory, LENGTH / 2);
                PeerMappings.Mapping ofOther = open(other, LENGTH)) {
            assertNotEquals(mapping.address(), ofOther.address());
            assertNotEquals(mapping.address(), part.address(), "nobody reads behind what it was handed");
        }
        assertEquals(0, mapped());
    }

    @Test
    void shouldRememberNothingThatCouldNotBeMapped() throws IOException {
        assertThrows(IOException.class, () -> mappings.open(Descriptors.unsealed(LENGTH), LENGTH));
        try (SealedMemory memory = SealedMemory.create(NAME, LENGTH)) {
            int descriptors = Descriptors.open(NAME);
            assertThrows(IOException.class, () -> open(memory, LENGTH + 1));
            assertThrows(IOException.class, () -> mappings.open(Integer.MAX_VALUE, LENGTH), "no descriptor");
            try (PeerMappings.Mapping one = open(memory, LENGTH);
                    PeerMappings.Mapping other = open(memory, LENGTH)) {
                assertEquals(one.address(), other.address());
                assertEquals(descriptors, Descriptors.open(NAME), "what was handed over is closed in any case");
            }
        }
    }

    private PeerMappings.Mapping open(SealedMemory memory, long length) throws IOException {
        return mappings.open(Descriptors.reopened(memory.descriptor()), length);
    }

    private static int mapped() throws IOException {
        List<String> all = Files.readAllLines(Path.of("/proc/self/maps"));
        return (int) all.stream().filter(line -> line.contains(NAME)).count();
    }
}
