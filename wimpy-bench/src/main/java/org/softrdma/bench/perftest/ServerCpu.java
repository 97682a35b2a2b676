package org.softrdma.bench.perftest;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.CoreClock;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.cpu.CpuUse;

/**
 * What the operations of one table row cost the server's CPU, both ways.
 *
 * @param processNs CPU time of the server's process
 * @param coreNs time its cores were not idle; -1 if it was not pinned to any
 * @param wallNs time that passed
 * @param operations operations of both directions
 * @param classes the process's share by class of thread, for people
 */
public record ServerCpu(long processNs, long coreNs, long wallNs, long operations, String classes) {
    private static final double NS_PER_US = 1e3;

    /** Microseconds of the process's CPU per operation. */
    public double processMicros() {
        return operations == 0 ? 0 : processNs / NS_PER_US / operations;
    }

    /** Microseconds its cores were not idle per operation; NaN if it was not pinned. */
    public double coreMicros() {
        return coreNs < 0 || operations == 0 ? Double.NaN : coreNs / NS_PER_US / operations;
    }

    /** One line for people. */
    public String describe() {
        return String.format(
                Locale.ROOT,
                " server CPU per operation: %.3f us of its process (%s)%s",
                processMicros(),
                classes.isEmpty() ? "no thread ran" : classes,
                coreNs < 0
                        ? "; its cores: not measured, pin it with --cpu"
                        : String.format(Locale.ROOT, "; %.3f us its core was not idle", coreMicros()));
    }

    /** The two clocks of this process, read together. */
    static final class Meter {
        private final CpuClock clock = CpuClock.ofThisProcess();
        private final @Nullable CoreClock cores;
        private CpuClock.Sample processStart;
        private CoreClock.@Nullable Sample coreStart;

        /**
         * A meter.
         *
         * @param cores the cores this process is pinned to, null if it is not
         */
        Meter(@Nullable CoreClock cores) {
            this.cores = cores;
            processStart = clock.sample();
        }

        void start() {
            processStart = clock.sample();
            coreStart = cores == null ? null : cores.sample();
        }

        ServerCpu stop(long operations) {
            long coreNs =
                    cores == null || coreStart == null ? -1 : cores.sample().busyNsSince(coreStart);
            CpuUse use = clock.sample().since(processStart);
            return new ServerCpu(use.totalNs(), coreNs, use.wallNs(), operations, use.describeClasses(operations));
        }
    }
}
