package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.net.memory.NativeMemory;

/** What is handed over can be read, and by the kernel's word nothing else. */
class SealedMemoryTest {
    private static final int EPERM = 1;
    private static final int EBADF = 9;
    private static final int EACCES = 13;
    private static final int LENGTH = 8192;

    @Test
    void shouldRefuseAPeerEveryWayToWrite() throws IOException {
        try (SealedMemory memory = SealedMemory.create("test", LENGTH)) {
            int handedOver = memory.descriptor();
            NativeMemory.putByte(memory.address(), 42);
            assertEquals(EACCES, Descriptors.mapWritable(handedOver, LENGTH));
            assertEquals(EBADF, Descriptors.write(handedOver));
            assertEquals(EPERM, Descriptors.seal(handedOver));
            int reopened = Descriptors.reopened(handedOver);
            assertTrue(reopened >= 0, "the same user may open it for writing");
            assertEquals(EPERM, Descriptors.mapWritable(reopened, LENGTH));
            assertEquals(EPERM, Descriptors.write(reopened));
            assertEquals(EPERM, Descriptors.shorten(reopened));
            assertEquals(EPERM, Descriptors.punchHole(reopened, LENGTH));
            assertEquals(EPERM, Descriptors.seal(reopened));
            try (SealedMemory seen = SealedMemory.open(reopened, LENGTH)) {
                assertEquals(42, NativeMemory.getByte(seen.address()));
                assertEquals(EACCES, Descriptors.makeWritable(seen.address(), LENGTH));
                NativeMemory.putByte(memory.address(), 43);
                assertEquals(43, NativeMemory.getByte(seen.address()), "the owner goes on writing");
            }
        }
    }

    @Test
    void shouldMapNothingThatCanBecomeShorter() {
        assertThrows(IOException.class, () -> SealedMemory.open(Descriptors.unsealed(LENGTH), LENGTH));
    }

    @Test
    void shouldMapNothingThatIsTooShort() throws IOException {
        try (SealedMemory memory = SealedMemory.create("test", LENGTH)) {
            int reopened = Descriptors.reopened(memory.descriptor());
            assertThrows(IOException.class, () -> SealedMemory.open(reopened, LENGTH + 1));
        }
    }
}
