package org.softrdma.bench.floor;

import java.util.List;
import org.softrdma.bench.message.PolledLoad;

/**
 * What {@code VerbsStudy} measures.
 *
 * @param sizes bytes of an answer, from the smallest
 * @param connections connections, where it is about requests per second
 * @param window requests outstanding on each of them
 * @param responders processes of each way on the soft RNIC that take turns
 */
public record VerbsLoad(List<Long> sizes, int connections, int window, int responders) {
    private static final int MOST_BYTES = 1 << 20;

    /** Sorts the sizes and checks the numbers. */
    public VerbsLoad {
        sizes = sizes.stream().distinct().sorted().toList();
        if (sizes.isEmpty()
                || sizes.stream()
                        .anyMatch(size -> size < PolledLoad.WORD || size > MOST_BYTES || size % PolledLoad.WORD != 0)) {
            throw new IllegalArgumentException("--sizes " + sizes + ": expected multiples of " + PolledLoad.WORD
                    + " up to " + MOST_BYTES + ", because WRITEs end with a word that is polled");
        }
        expect("--connections", connections);
        expect("--window", window);
        expect("--responders", responders);
    }

    private static void expect(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " " + value + ": expected at least 1");
        }
    }

    /** How many requests there are at a time. */
    List<Shape> shapes() {
        return List.of(new Shape(1, 1), new Shape(connections, window)).stream()
                .distinct()
                .toList();
    }

    /**
     * Requests at a time.
     *
     * @param connections connections
     * @param window outstanding on each
     */
    record Shape(int connections, int window) {}
}
