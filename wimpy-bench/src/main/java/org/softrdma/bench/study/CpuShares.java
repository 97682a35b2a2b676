package org.softrdma.bench.study;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.cpu.ThreadClass;

/**
 * Where the CPU time of a server went, on average over all rounds: what a class of threads did in a few of them only, such as
 * collecting garbage, counts for what it was. Microseconds per operation. Owned by the thread of the study.
 */
public final class CpuShares {
    private static final double NS_PER_US = 1e3;
    private static final double PERCENT = 100;
    private static final Set<ThreadClass> OF_THE_VM = Set.of(ThreadClass.JIT, ThreadClass.GC, ThreadClass.JVM);

    private final Map<ThreadClass, Long> totalNs = new EnumMap<>(ThreadClass.class);
    private final Map<ThreadClass, Long> userNs = new EnumMap<>(ThreadClass.class);
    private long wholeUserNs;
    private long wholeSystemNs;
    private long wallNs;
    private long operations;

    /** Nothing yet. */
    public CpuShares() {}

    /**
     * Adds a round.
     *
     * @param use what the server used in it
     * @param done operations that it served
     */
    public void add(CpuUse use, long done) {
        use.byClassNs().forEach((threads, ns) -> totalNs.merge(threads, ns, Long::sum));
        use.userByClassNs().forEach((threads, ns) -> userNs.merge(threads, ns, Long::sum));
        wholeUserNs += use.userNs();
        wholeSystemNs += use.systemNs();
        wallNs += use.wallNs();
        operations += done;
    }

    /** True if nothing is known. */
    public boolean isEmpty() {
        return operations == 0;
    }

    /** The kernel's work for the threads that serve: system calls, and TCP within them. */
    public double kernel() {
        return totalNs.isEmpty() ? micros(wholeSystemNs) : serving(totalNs) - serving(userNs);
    }

    /** What the RNIC did in user mode. */
    public double rnic() {
        return micros(userNs.getOrDefault(ThreadClass.RNIC, 0L));
    }

    /** What the other threads that serve did in user mode. */
    public double application() {
        return totalNs.isEmpty() ? micros(wholeUserNs) : serving(userNs) - rnic();
    }

    /** What a virtual machine needed for itself: compiling, collecting garbage. */
    public double virtualMachine() {
        return micros(totalNs.entrySet().stream()
                .filter(entry -> OF_THE_VM.contains(entry.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum());
    }

    /** False if compiling took so much that a figure is not that of a warm server. */
    public boolean isWarm() {
        long whole = totalNs.values().stream().mapToLong(Long::longValue).sum();
        double compiling = totalNs.getOrDefault(ThreadClass.JIT, 0L);
        return compiling == 0 || Warmth.isWarm(compiling / whole, compiling / wallNs);
    }

    /** Percent of the whole that compiling bytecode took; 0 if nothing is known. */
    public double compilingPercent() {
        long whole = totalNs.values().stream().mapToLong(Long::longValue).sum();
        return whole == 0 ? 0 : PERCENT * totalNs.getOrDefault(ThreadClass.JIT, 0L) / whole;
    }

    /** By class of thread. */
    public Map<String, Double> byClass() {
        return named(totalNs);
    }

    /** By class of thread, what was in user mode. */
    public Map<String, Double> userByClass() {
        return named(userNs);
    }

    private double serving(Map<ThreadClass, Long> ns) {
        return micros(ns.entrySet().stream()
                .filter(entry -> !OF_THE_VM.contains(entry.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum());
    }

    private Map<String, Double> named(Map<ThreadClass, Long> ns) {
        Map<String, Double> named = new LinkedHashMap<>();
        ns.forEach((threads, sum) -> named.put(threads.label(), micros(sum)));
        return named;
    }

    private double micros(long ns) {
        return operations == 0 ? Double.NaN : ns / NS_PER_US / operations;
    }
}
