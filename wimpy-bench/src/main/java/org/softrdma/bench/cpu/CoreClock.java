package org.softrdma.bench.cpu;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.softrdma.bench.machine.KernelFile;

/**
 * The time that chosen cores were not idle: the second of the two ways to say what an operation costs. It includes what the
 * kernel does in interrupts on behalf of a server, and whatever else ran on those cores: keep them free of other work.
 *
 * <p>From {@code /proc/stat}. Not idle is the time that passed less idle, waiting for a device, and stolen by the hypervisor:
 * with ticks switched off on idle cores those are exact where user and system time are only sampled. Steps of 10 ms.
 */
public final class CoreClock {
    private static final Path STAT = Path.of("/proc/stat");
    private static final long NS_PER_TICK = 10_000_000;
    /** Columns of a cpu line: user nice system idle iowait irq softirq steal. */
    private static final int IDLE = 4;

    private static final int IOWAIT = IDLE + 1;
    private static final int STEAL = 8;

    private final List<Integer> cores;

    /**
     * A clock of some cores.
     *
     * @param cores their numbers
     */
    public CoreClock(List<Integer> cores) {
        this.cores = List.copyOf(cores);
    }

    /** True if the kernel offers what this clock reads. */
    public static boolean available() {
        return Files.isReadable(STAT);
    }

    /** Reads the idle time of the cores so far. */
    public Sample sample() {
        long nowNs = System.nanoTime();
        String text = KernelFile.read(STAT).orElse("");
        long notOurs = 0;
        for (int core : cores) {
            notOurs += idleTicks(text, core) * NS_PER_TICK;
        }
        return new Sample(nowNs, notOurs, cores.size());
    }

    /**
     * The ticks that a core was idle, waited or was stolen.
     *
     * @param stat the text of /proc/stat
     * @param core its number
     */
    static long idleTicks(String stat, int core) {
        String prefix = "cpu" + core + " ";
        return stat.lines()
                .filter(line -> line.startsWith(prefix))
                .findFirst()
                .map(line -> {
                    String[] columns = line.trim().split(" +", -1);
                    long ticks = Long.parseLong(columns[IDLE]) + Long.parseLong(columns[IOWAIT]);
                    return columns.length > STEAL ? ticks + Long.parseLong(columns[STEAL]) : ticks;
                })
                .orElse(0L);
    }

    /**
     * The idle time of the cores until one moment.
     *
     * @param takenNs when
     * @param idleNs idle time of all of them
     * @param cores how many they are
     */
    public record Sample(long takenNs, long idleNs, int cores) {
        /**
         * The time the cores were not idle since an earlier sample, at least 0.
         *
         * @param earlier the earlier sample
         */
        public long busyNsSince(Sample earlier) {
            return Math.max(0, (takenNs - earlier.takenNs) * cores - (idleNs - earlier.idleNs));
        }
    }
}
