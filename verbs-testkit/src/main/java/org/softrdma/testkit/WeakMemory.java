package org.softrdma.testkit;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * What peers may see of memory on a machine whose stores become visible in any order, except across a fence: each word
 * has the value of the last fence, or one that was stored there since, whatever the other words have. Processors and
 * compilers that reorder stores are allowed no more than that; a writer that relies on the order of its stores without
 * a fence shows one of these views that it does not expect.
 *
 * <p>The owner's stores go into the memory itself, and this class compares: {@link #stored} after each store, or after
 * few. The owner's thread.
 */
public final class WeakMemory {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    private final RandomGenerator random;
    private final List<Part> parts = new ArrayList<>();

    /** A range with what its words were since the last fence. */
    private static final class Part {
        private final MemorySegment memory;
        private final List<List<Long>> values = new ArrayList<>();

        Part(MemorySegment memory) {
            this.memory = memory;
            for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
                values.add(new ArrayList<>(List.of(memory.get(WORD, at))));
            }
        }

        void stored() {
            for (int i = 0; i < values.size(); i++) {
                long now = memory.get(WORD, (long) i * Long.BYTES);
                if (values.get(i).getLast() != now) {
                    values.get(i).add(now);
                }
            }
        }

        void fence() {
            for (List<Long> of : values) {
                if (of.size() > 1) {
                    of.subList(0, of.size() - 1).clear();
                }
            }
        }

        void view(RandomGenerator random, MemorySegment view) {
            for (int i = 0; i < values.size(); i++) {
                List<Long> of = values.get(i);
                long seen = of.size() == 1 ? of.getFirst() : of.get(random.nextInt(of.size()));
                view.set(WORD, (long) i * Long.BYTES, seen);
            }
        }
    }

    /**
     * Memory as it is.
     *
     * @param random chooses what is seen
     * @param memory ranges, each of whole words
     */
    public WeakMemory(RandomGenerator random, MemorySegment... memory) {
        this.random = random;
        for (MemorySegment range : memory) {
            parts.add(new Part(range));
        }
    }

    /** The owner may have stored something since the last call. */
    public void stored() {
        parts.forEach(Part::stored);
    }

    /** What was stored until now is visible before all that follows. */
    public void fence() {
        stored();
        parts.forEach(Part::fence);
    }

    /**
     * A range as a peer may see it now.
     *
     * @param part its number
     * @param view becomes a copy of it
     */
    public void view(int part, MemorySegment view) {
        parts.get(part).view(random, view);
    }
}
