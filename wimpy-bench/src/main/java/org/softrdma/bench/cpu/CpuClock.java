package org.softrdma.bench.cpu;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.softrdma.bench.machine.KernelFile;

/**
 * The CPU time of a process, thread by thread: the first of the two ways to say what an operation costs.
 *
 * <p>Run time comes from {@code /proc/PID/task/TID/schedstat} (nanoseconds), user and system time from {@code stat} (ticks of
 * 10 ms). The kernel brings the run time of a thread up to date when it stops running or at the next tick, so sample while
 * the process is idle, or for much longer than a tick. A thread that ends between two samples takes what it used since the
 * first one with it.
 */
public final class CpuClock {
    private static final long NS_PER_TICK = 10_000_000;
    /** Fields of {@code stat} behind the parenthesised name, from 0: state is 0, utime 11, stime 12. */
    private static final int USER_FIELD = 11;

    private static final int SYSTEM_FIELD = USER_FIELD + 1;

    private final Path tasks;
    private final long pid;

    private CpuClock(long pid) {
        this.pid = pid;
        tasks = Path.of("/proc", Long.toString(pid), "task");
    }

    /**
     * The clock of a process.
     *
     * @param pid its number
     */
    public static CpuClock ofProcess(long pid) {
        return new CpuClock(pid);
    }

    /** The clock of this process. */
    public static CpuClock ofThisProcess() {
        return new CpuClock(ProcessHandle.current().pid());
    }

    /** True if the kernel offers what this clock reads. */
    public boolean available() {
        return Files.isReadable(tasks.resolve(Long.toString(pid)).resolve("schedstat"));
    }

    /** Reads the time used so far; a process that is gone has used none. */
    public Sample sample() {
        long nowNs = System.nanoTime();
        Map<String, ThreadTime> threads = new HashMap<>();
        try (DirectoryStream<Path> directory = Files.newDirectoryStream(tasks)) {
            for (Path task : directory) {
                read(task).ifPresent(time -> threads.put(task.getFileName().toString(), time));
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            threads.clear();
        }
        return new Sample(nowNs, threads);
    }

    private static Optional<ThreadTime> read(Path task) {
        Optional<String> schedstat = KernelFile.firstLine(task.resolve("schedstat"));
        Optional<String> stat = KernelFile.read(task.resolve("stat"));
        return schedstat.isPresent() && stat.isPresent()
                ? Optional.of(parse(schedstat.get(), stat.get()))
                : Optional.empty();
    }

    /** The time of a thread from the text of its two files. */
    public static ThreadTime parse(String schedstat, String stat) {
        int nameStart = stat.indexOf('(') + 1;
        int nameEnd = stat.lastIndexOf(')');
        String[] fields = stat.substring(nameEnd + 1).trim().split(" ", -1);
        String[] times = schedstat.split(" ", -1);
        return new ThreadTime(
                stat.substring(nameStart, nameEnd),
                Long.parseLong(times[0]),
                times.length > 1 ? Long.parseLong(times[1]) : 0,
                Long.parseLong(fields[USER_FIELD]) * NS_PER_TICK,
                Long.parseLong(fields[SYSTEM_FIELD]) * NS_PER_TICK);
    }

    /**
     * The time a thread has used.
     *
     * @param name its name, at most 15 characters
     * @param runNs on a CPU
     * @param waitNs ready to run while something else had the CPU
     * @param userNs of which in user mode, in steps of 10 ms
     * @param systemNs of which in the kernel, in steps of 10 ms
     */
    record ThreadTime(String name, long runNs, long waitNs, long userNs, long systemNs) {
        static final ThreadTime NONE = new ThreadTime("", 0, 0, 0, 0);
    }

    /** The time used by each thread until one moment. */
    public static final class Sample {
        private final long takenNs;
        private final Map<String, ThreadTime> threads;

        Sample(long takenNs, Map<String, ThreadTime> threads) {
            this.takenNs = takenNs;
            this.threads = Map.copyOf(threads);
        }

        /**
         * What was used since an earlier sample of the same process.
         *
         * @param earlier the earlier sample
         */
        public CpuUse since(Sample earlier) {
            Map<ThreadClass, Long> byClass = new EnumMap<>(ThreadClass.class);
            Map<ThreadClass, Long> userTicks = new EnumMap<>(ThreadClass.class);
            Map<ThreadClass, Long> allTicks = new EnumMap<>(ThreadClass.class);
            long total = 0;
            long wait = 0;
            long user = 0;
            long system = 0;
            for (Map.Entry<String, ThreadTime> entry : threads.entrySet()) {
                ThreadTime now = entry.getValue();
                ThreadTime then = earlier.threads.getOrDefault(entry.getKey(), ThreadTime.NONE);
                long used = now.runNs() - then.runNs();
                long usedByUser = now.userNs() - then.userNs();
                long usedBySystem = now.systemNs() - then.systemNs();
                ThreadClass threadClass = ThreadClass.of(now.name());
                if (used != 0) {
                    byClass.merge(threadClass, used, Long::sum);
                }
                userTicks.merge(threadClass, usedByUser, Long::sum);
                allTicks.merge(threadClass, usedByUser + usedBySystem, Long::sum);
                total += used;
                wait += now.waitNs() - then.waitNs();
                user += usedByUser;
                system += usedBySystem;
            }
            Map<ThreadClass, Long> userByClass = new EnumMap<>(ThreadClass.class);
            byClass.forEach((threadClass, used) -> {
                long ticks = allTicks.getOrDefault(threadClass, 0L);
                // Without a single tick in one of the modes the kernel does not say which it was.
                double part = ticks == 0 ? 0 : (double) userTicks.getOrDefault(threadClass, 0L) / ticks;
                userByClass.put(threadClass, Math.round(used * part));
            });
            return new CpuUse(takenNs - earlier.takenNs, total, wait, user, system, byClass, userByClass);
        }
    }
}
