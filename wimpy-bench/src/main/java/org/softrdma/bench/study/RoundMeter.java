package org.softrdma.bench.study;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.softrdma.bench.cpu.CoreClock;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.cpu.ThreadClass;
import org.softrdma.bench.server.ServerMeter;

/** Measures what a round of a load costs its server, the server's cores and this process. The thread of the study. */
public final class RoundMeter {
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final double NS_PER_US = 1e3;
    private static final double PERCENT = 100;
    private static final CpuClock CLIENT_CLOCK = CpuClock.ofThisProcess();

    private final ServerMeter server;
    private final List<Integer> cores;

    /**
     * A meter.
     *
     * @param server the server's
     * @param cores that only the server runs on; empty if there are none
     */
    public RoundMeter(ServerMeter server, List<Integer> cores) {
        this.server = server;
        this.cores = List.copyOf(cores);
    }

    /**
     * What a round cost. Times of a single operation are in microseconds, and NaN where nobody can tell.
     *
     * @param server what the server used; empty if nobody can tell
     * @param client what this process used
     * @param coreBusyNs how long the server's cores were not idle; NaN if they are not its own
     */
    public record Reading(Optional<CpuUse> server, CpuUse client, double coreBusyNs) {
        /** CPU time of the server, without that of compiling bytecode, which ends once it is warm. */
        public double serverMicros(double operations) {
            return server.map(use -> (use.totalNs() - compilingNs(use)) / NS_PER_US / operations)
                    .orElse(Double.NaN);
        }

        /** CPU time of compiling the server's bytecode. */
        public double compilerMicros(double operations) {
            return server.map(use -> compilingNs(use) / NS_PER_US / operations).orElse(Double.NaN);
        }

        private static long compilingNs(CpuUse use) {
            return use.byClassNs().getOrDefault(ThreadClass.JIT, 0L);
        }

        /** Of which in user mode: the ticks of user and system time are coarse, they split the exact total. */
        public double serverUserMicros(double operations) {
            return userPart() * serverMicros(operations);
        }

        /** Of which in the kernel. */
        public double serverSystemMicros(double operations) {
            return (1 - userPart()) * serverMicros(operations);
        }

        private double userPart() {
            return server.map(RoundMeter::userPart).orElse(Double.NaN);
        }

        /** Time that the server's cores were not idle. */
        public double coreMicros(double operations) {
            return coreBusyNs / NS_PER_US / operations;
        }

        /** CPU time of this process. */
        public double clientMicros(double operations) {
            return client.totalNs() / NS_PER_US / operations;
        }

        /** How much of the time threads of the server waited for a core that something else had. */
        public double serverWaitedPercent(long elapsedNs) {
            return server.map(use -> PERCENT * use.waitNs() / elapsedNs).orElse(Double.NaN);
        }

        /** How much of the time threads of this process did. */
        public double clientWaitedPercent(long elapsedNs) {
            return PERCENT * client.waitNs() / elapsedNs;
        }
    }

    private static double userPart(CpuUse use) {
        if (use.byClassNs().isEmpty()) {
            long whole = use.userNs() + use.systemNs();
            return whole > 0 ? (double) use.userNs() / whole : Double.NaN;
        }
        long serving = withoutCompiling(use.byClassNs());
        return serving > 0 ? (double) withoutCompiling(use.userByClassNs()) / serving : Double.NaN;
    }

    private static long withoutCompiling(Map<ThreadClass, Long> byClass) {
        return byClass.entrySet().stream()
                .filter(each -> each.getKey() != ThreadClass.JIT)
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /** Measures while a load runs, which begins and ends at rest. */
    public Reading around(Runnable load) {
        CoreClock core = new CoreClock(cores);
        LockSupport.parkNanos(QUIET_NS); // the kernel brings thread times up to date when threads sleep
        server.start();
        CpuClock.Sample clientStart = CLIENT_CLOCK.sample();
        CoreClock.Sample coreStart = core.sample();
        load.run();
        CoreClock.Sample coreEnd = core.sample();
        LockSupport.parkNanos(QUIET_NS);
        Optional<CpuUse> used = server.stop();
        CpuUse client = CLIENT_CLOCK.sample().since(clientStart);
        return new Reading(used, client, cores.isEmpty() ? Double.NaN : coreEnd.busyNsSince(coreStart));
    }
}
