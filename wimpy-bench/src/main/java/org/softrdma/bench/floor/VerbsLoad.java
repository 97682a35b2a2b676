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
    private static final int MOST_CONNECTIONS = 64;
    private static final int MOST_WINDOW = 128;
    private static final int MOST_RESPONDERS = 16;

    /** Sorts the sizes and checks the numbers. */
    public VerbsLoad {
        sizes = sizes.stream().distinct().sorted().toList();
        if (sizes.isEmpty()
                || sizes.stream()
                        .anyMatch(size ->
                                size < PolledLoad.LEAST_ANSWER || size > MOST_BYTES || size % PolledLoad.WORD != 0)) {
            throw new IllegalArgumentException("--sizes " + sizes + ": expected multiples of " + PolledLoad.WORD
                    + " from " + PolledLoad.LEAST_ANSWER + " to " + MOST_BYTES
                    + ", because WRITEs end with a word that is polled");
        }
        expect("--connections", connections, MOST_CONNECTIONS);
        expect("--window", window, MOST_WINDOW);
        expect("--responders", responders, MOST_RESPONDERS);
    }

    private static void expect(String name, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(name + " " + value + ": expected 1 to " + most);
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
     * @param window outstanding on each
     */
    record Shape(int connections, int window) {
        boolean isSingle() {
            return connections * window == 1;
        }
    }
}
