package org.softrdma.bench.cpu;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a process used between two samples of its {@link CpuClock}.
 *
 * @param wallNs time that passed
 * @param totalNs time on a CPU, all threads
 * @param waitNs time that threads were ready to run while something else had their CPU: more than a few percent of the time
 *     that passed means that other work disturbed the measurement
 * @param userNs of which in user mode, in steps of 10 ms a thread
 * @param systemNs of which in the kernel, in steps of 10 ms a thread
 * @param byClassNs the total by class of thread; classes that used nothing are absent
 * @param userByClassNs of which in user mode, the total split as the kernel's ticks of 10 ms are
 */
public record CpuUse(
        long wallNs,
        long totalNs,
        long waitNs,
        long userNs,
        long systemNs,
        Map<ThreadClass, Long> byClassNs,
        Map<ThreadClass, Long> userByClassNs) {
    private static final double NS_PER_US = 1e3;

    /** Copies the maps. */
    public CpuUse {
        byClassNs = Map.copyOf(byClassNs);
        userByClassNs = Map.copyOf(userByClassNs);
    }

    /**
     * The use of a process of which no more than the sum is known.
     *
     * @param wallNs time that passed
     * @param userNs in user mode
     * @param systemNs in the kernel
     */
    public static CpuUse ofWhole(long wallNs, long userNs, long systemNs) {
        return new CpuUse(wallNs, userNs + systemNs, 0, userNs, systemNs, Map.of(), Map.of());
    }

    /**
     * Microseconds of CPU per operation.
     *
     * @param operations how many were done
     */
    public double microsPer(long operations) {
        return operations == 0 ? 0 : totalNs / NS_PER_US / operations;
    }

    /**
     * The classes of threads with their microseconds per operation, for people: {@code rnic 1.20, gc 0.01}.
     *
     * @param operations how many were done
     */
    public String describeClasses(long operations) {
        return byClassNs.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(entry -> String.format(
                        Locale.ROOT,
                        "%s %.3f",
                        entry.getKey().label(),
                        operations == 0 ? 0 : entry.getValue() / NS_PER_US / operations))
                .collect(Collectors.joining(", "));
    }
}
