package org.softrdma.bench.study;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.cpu.ThreadClass;

/**
 * When a server is warm: when compiling bytecode takes no more than a tenth of its CPU, or so little of the time that it does
 * not matter. Servers that are not JVMs are warm at once. Stateless.
 */
public final class Warmth {
    /** Part of a server's CPU. */
    private static final double PART_OF_CPU = 0.10;
    /** Part of the time: less is what a server that has next to nothing to do compiles now and then. */
    private static final double PART_OF_TIME = 0.01;
    /** Passes in all, however much is still compiled. */
    public static final int MOST_PASSES = 12;

    private Warmth() {}

    /**
     * Loads rows, all of them in each pass, until each of them is warm.
     *
     * @param least passes over every row
     * @param rows of one or several servers
     * @param compiles true for rows of a JVM
     * @param load loads a row, and says what its server used meanwhile
     */
    public static <T> void warmUp(int least, List<T> rows, Predicate<T> compiles, Function<T, Optional<CpuUse>> load) {
        List<T> cold = rows;
        for (int pass = 1; pass <= MOST_PASSES && !cold.isEmpty(); pass++) {
            boolean more = pass < least;
            cold = cold.stream()
                    .filter(row -> {
                        boolean warm = load.apply(row).map(Warmth::isWarm).orElse(true);
                        return more || (compiles.test(row) && !warm);
                    })
                    .toList();
        }
    }

    static boolean isWarm(CpuUse use) {
        double compilingNs = use.byClassNs().getOrDefault(ThreadClass.JIT, 0L);
        return compilingNs == 0 || isWarm(compilingNs / use.totalNs(), compilingNs / use.wallNs());
    }

    /**
     * True if so much compiling is no more than a detail.
     *
     * @param partOfCpu of the server's CPU
     * @param partOfTime of the time that passed
     */
    public static boolean isWarm(double partOfCpu, double partOfTime) {
        return partOfCpu <= PART_OF_CPU || partOfTime <= PART_OF_TIME;
    }
}
