package org.softrdma.farm.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.MemorySteps;
import org.softrdma.testkit.WeakMemory;

/**
 * What line versions rest on as published: a READ whose lines were taken at any times of a change, on a machine that
 * shows stores in any order that fences allow, is the old object or the new one, or is not believed.
 */
class WeakMemoryTest {
    private static final int START = 16;
    private static final int LENGTH = FarmObjectDescriptor.PAYLOAD_OFFSET + 160;
    private static final int CHANGES = 40;
    private static final int READS = 3000;
    private static final int VIEWS = 3;

    private final Random random = new Random(11);
    private final MemorySegment memory = Arena.ofAuto().allocate(256, ObjectLines.LINE);
    private final WeakMemory weak = new WeakMemory(random, memory);
    private final List<List<MemorySegment>> lines = new ArrayList<>();
    private final List<Set<String>> known = new ArrayList<>();

    private final class Steps extends MemorySteps {
        private void look() {
            weak.stored();
            for (int i = 0; i < VIEWS; i++) {
                see();
            }
        }

        @Override
        public void step(Enum<?> point) {
            look();
        }

        @Override
        public void copy(MemorySegment source, long from, MemorySegment target, long to, long length) {
            for (long at = 0; at < length; at++) {
                super.copy(source, from + at, target, to + at, 1);
                if ((to + at + 1) % Long.BYTES == 0 || at + 1 == length) {
                    look();
                }
            }
        }

        @Override
        public void fence() {
            weak.fence();
        }
    }

    private void see() {
        MemorySegment view = MemorySegment.ofArray(new long[(int) memory.byteSize() / Long.BYTES]);
        weak.view(0, view);
        for (int line = 0; line < lines.size(); line++) {
            MemorySegment seen = view.asSlice((long) line * ObjectLines.LINE, ObjectLines.LINE);
            if (known.get(line).add(Arrays.toString(seen.toArray(ValueLayout.JAVA_LONG_UNALIGNED)))) {
                lines.get(line).add(seen);
            }
        }
    }

    /** Often as it was at first or at last: else hardly a READ would be believed. */
    private MemorySegment any(List<MemorySegment> seen) {
        return switch (random.nextInt(4)) {
            case 0 -> seen.getFirst();
            case 1 -> seen.getLast();
            default -> seen.get(random.nextInt(seen.size()));
        };
    }

    @Test
    void shouldBelieveOnlyTheOldObjectOrTheNewWhateverOrderStoresAreSeenIn() {
        for (long line = 0; line < memory.byteSize(); line += ObjectLines.LINE) {
            lines.add(new ArrayList<>());
            known.add(new HashSet<>());
        }
        ObjectChanges changes = new ObjectChanges(memory, false, new Steps());
        int consistent = 0;
        int old = 0;
        for (int change = 0; change < CHANGES; change++) {
            weak.fence();
            lines.forEach(List::clear);
            known.forEach(Set::clear);
            see();
            long was = ObjectLines.getLong(memory, START, FarmObjectDescriptor.PAYLOAD_OFFSET);
            ObjectImage image = changes.change(START, LENGTH);
            for (int at = FarmObjectDescriptor.PAYLOAD_OFFSET; at < LENGTH; at += Long.BYTES) {
                image.putLong(at, change + 1L);
            }
            changes.commit();
            weak.stored();
            for (int i = 0; i < VIEWS; i++) {
                see();
            }
            LockFreeReader reader = new LockFreeReader(false);
            ObjectImage read = new ObjectImage();
            for (int i = 0; i < READS; i++) {
                MemorySegment taken = MemorySegment.ofArray(new long[(int) memory.byteSize() / Long.BYTES]);
                for (int line = 0; line < lines.size(); line++) {
                    taken.asSlice((long) line * ObjectLines.LINE, ObjectLines.LINE)
                            .copyFrom(any(lines.get(line)));
                }
                if (reader.read(taken, START, START, LENGTH, read) == ReadVerdict.CONSISTENT) {
                    consistent++;
                    long first = read.getLong(FarmObjectDescriptor.PAYLOAD_OFFSET);
                    old += first == was ? 1 : 0;
                    assertTrue(first == was || first == change + 1L, "change " + change + ": " + first);
                    for (int at = FarmObjectDescriptor.PAYLOAD_OFFSET; at < LENGTH; at += Long.BYTES) {
                        assertEquals(first, read.getLong(at), "change " + change + ": half of one at " + at);
                    }
                }
            }
        }
        assertTrue(old > CHANGES && consistent - old > CHANGES, old + " old ones of " + consistent + " believed");
    }
}
