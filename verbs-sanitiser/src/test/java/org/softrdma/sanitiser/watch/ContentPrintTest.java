package org.softrdma.sanitiser.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContentPrintTest {
    private static final long SEED = 20261122;
    private static final int LARGEST_TOLD_TO_THE_WORD = 8192;

    private static ContentPrint print(MemorySegment memory) {
        ContentPrint print = ContentPrint.of(memory);
        assertNotNull(print);
        return print;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 9, 64, 1000, 8191, 8192, 8193, 100_000, 1 << 20})
    void shouldTellTheBlockOfAnyByteThatChanged(int length) {
        Random random = new Random(SEED);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(length);
            for (int i = 0; i < length; i++) {
                memory.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
            }
            ContentPrint print = print(memory);
            assertEquals(-1, print.firstChange(0));
            long block = length <= LARGEST_TOLD_TO_THE_WORD ? 8 : (length + 1023) / 1024 + 7;
            for (int i = 0; i < 50; i++) {
                int at = i == 0 ? length - 1 : random.nextInt(length);
                byte was = memory.get(ValueLayout.JAVA_BYTE, at);
                memory.set(ValueLayout.JAVA_BYTE, at, (byte) (was ^ (1 << random.nextInt(8))));
                long told = print.firstChange(0);
                assertTrue(told >= 0 && told <= at && at < told + block, "byte " + at + ": told " + told);
                memory.set(ValueLayout.JAVA_BYTE, at, was);
                assertEquals(-1, print.firstChange(0));
            }
        }
    }

    @Test
    void shouldNotLookAtBlocksThatBeginBefore() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(64);
            ContentPrint print = print(memory);
            memory.set(ValueLayout.JAVA_BYTE, 23, (byte) 1);
            assertEquals(16, print.firstChange(16));
            assertEquals(-1, print.firstChange(17));
            assertEquals(-1, print.firstChange(64));
        }
    }

    @Test
    void shouldTellWhenMemoryIsGoneOrOfAnotherThread() throws InterruptedException {
        ContentPrint print;
        MemorySegment memory;
        try (Arena arena = Arena.ofConfined()) {
            memory = arena.allocate(64);
            print = print(memory);
            @Nullable ContentPrint[] elsewhere = {print};
            boolean[] readable = {true};
            Thread.ofPlatform()
                    .start(() -> {
                        elsewhere[0] = ContentPrint.of(memory);
                        readable[0] = print.isReadable();
                    })
                    .join();
            assertNull(elsewhere[0]);
            assertEquals(false, readable[0]);
            assertTrue(print.isReadable());
        }
        assertTrue(print.isGone());
        assertNull(ContentPrint.of(memory));
    }
}
