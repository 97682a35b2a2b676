package org.softrdma.sim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.memory.MemoryOperations;

/** The end of a message into polled memory: what is there after each part of it, however it is cut. */
class HeldBackTest {
    private static final int WORD = 8;
    private static final int LONGEST = 40;
    private static final int MARGIN = 16;
    private static final byte OLD = 0x0F;

    /** Where things were put, in order, and what the last word was then. */
    private static final class Recorder extends MemoryOperations {
        private final List<String> calls = new ArrayList<>();
        private @Nullable Range range;

        private String where(long target, long length) {
            Range of = Objects.requireNonNull(range);
            String last = of.isPlaced(of.lastWord()) ? "new" : "old";
            return (target - of.memory.address() - MARGIN) + "+" + length + ", last word " + last;
        }

        @Override
        public void copyToPolled(long source, long target, long length) {
            calls.add("copy " + where(target, length));
            super.copyToPolled(source, target, length);
        }

        @Override
        public void publish(long source, long target, int length) {
            calls.add("publish " + where(target, length));
            super.publish(source, target, length);
        }
    }

    /** A range of aligned memory with margins, and a message for it. */
    private record Range(MemorySegment memory, MemorySegment message, int start, int length) {
        static Range of(Arena arena, int start, int length) {
            MemorySegment message = arena.allocate(LONGEST + WORD, WORD).asSlice(length % WORD, length);
            for (int i = 0; i < length; i++) {
                message.set(ValueLayout.JAVA_BYTE, i, (byte) (0x80 + i));
            }
            return new Range(arena.allocate(LONGEST + 2L * MARGIN, WORD).fill(OLD), message, MARGIN + start, length);
        }

        void put(HeldBack held, int from, int to) {
            if (to > from) {
                held.put(message.address() + from, memory.address() + start + from, to - from);
            }
        }

        private byte at(int index) {
            return memory.get(ValueLayout.JAVA_BYTE, index);
        }

        private boolean isPlaced(int index) {
            return at(index) != OLD;
        }

        /** First byte that must wait for the end of the message. */
        private int lastWord() {
            int word = (start + length) / WORD * WORD - WORD;
            return word >= start ? word : start + length - 1;
        }

        void requireIncomplete(int come, String how) {
            int waiting = 0;
            for (int i = 0; i < memory.byteSize(); i++) {
                boolean inside = i >= start && i < start + come;
                assertTrue(inside || !isPlaced(i), how + ": byte " + i + " was written");
                assertTrue(!isPlaced(i) || at(i) == (byte) (0x80 + i - start), how + ": byte " + i + " is wrong");
                assertTrue(i < lastWord() || !isPlaced(i), how + ": byte " + i + " is there before the message is");
                waiting += inside && !isPlaced(i) ? 1 : 0;
            }
            assertTrue(waiting < 2 * WORD, how + ": " + waiting + " bytes wait");
            for (int word = Math.ceilDiv(start, WORD) * WORD; word + WORD <= start + length; word += WORD) {
                int placed = 0;
                for (int i = word; i < word + WORD; i++) {
                    placed += isPlaced(i) ? 1 : 0;
                }
                assertTrue(placed == 0 || placed == WORD, how + ": the word at " + word + " is there in part");
            }
        }

        void requireComplete(String how) {
            for (int i = 0; i < memory.byteSize(); i++) {
                boolean inside = i >= start && i < start + length;
                assertEquals(inside ? (byte) (0x80 + i - start) : OLD, at(i), how + ": byte " + i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void shouldHoldTheLastWordBackWhereverTheMessageIsCut(int start) {
        HeldBack held = new HeldBack(new MemoryOperations());
        for (int length = 1; length <= LONGEST; length++) {
            for (int first = 0; first <= length; first++) {
                for (int second = first; second <= length; second++) {
                    String how = "start " + start + ", length " + length + ", cut at " + first + " and " + second;
                    try (Arena arena = Arena.ofConfined()) {
                        Range range = Range.of(arena, start, length);
                        range.put(held, 0, first);
                        range.requireIncomplete(first, how + ", first part");
                        range.put(held, first, second);
                        range.requireIncomplete(second, how + ", second part");
                        range.put(held, second, length);
                        range.requireIncomplete(length, how + ", third part");
                        held.release();
                        range.requireComplete(how);
                        assertEquals(0, held.length(), how);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void shouldHoldTheLastWordBackWhenEveryByteComesAlone(int start) {
        HeldBack held = new HeldBack(new MemoryOperations());
        try (Arena arena = Arena.ofConfined()) {
            Range range = Range.of(arena, start, LONGEST);
            for (int i = 0; i < LONGEST; i++) {
                range.put(held, i, i + 1);
                range.requireIncomplete(i + 1, "start " + start + ", " + (i + 1) + " bytes");
            }
            held.release();
            range.requireComplete("start " + start);
        }
    }

    @Test
    void shouldPlaceBytesBehindTheLastWordWithItAndNothingAfterIt() {
        Recorder recorder = new Recorder();
        HeldBack held = new HeldBack(recorder);
        try (Arena arena = Arena.ofConfined()) {
            Range range = Range.of(arena, 3, 24);
            recorder.range = range;
            range.put(held, 0, 24);
            held.release();
        }
        // 3 to 8 is no word, 8 is one, 16 is the last, 24 to 27 lie behind it; publish places these before the word.
        assertEquals(
                List.of("copy 3+13, last word old", "publish 16+11, last word old", "copy 24+3, last word old"),
                recorder.calls);
    }

    @Test
    void shouldPlaceNothingWhenItIsDropped() {
        Recorder recorder = new Recorder();
        HeldBack held = new HeldBack(recorder);
        try (Arena arena = Arena.ofConfined()) {
            Range range = Range.of(arena, 0, WORD);
            recorder.range = range;
            range.put(held, 0, WORD);
            held.drop();
            assertEquals(0, held.length());
            assertEquals(List.of(), recorder.calls);
            range.requireIncomplete(WORD, "dropped");
        }
    }
}
