package org.softrdma.bench.machine;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Other work on a core: processes that hash without end, as the CPU workers of the Nessie paper do (section 3: SHA-256 of a
 * small buffer). {@link #close} ends them, and so does the end of this process. The thread of the study.
 */
public final class CpuWorkers implements AutoCloseable {
    private static final List<String> HASH = List.of("sha256sum", "/dev/zero");

    private final List<Child> workers = new ArrayList<>();

    private CpuWorkers() {}

    /**
     * Starts some.
     *
     * @param pinning what to put before the command
     * @param count how many
     * @throws IOException if they cannot be started; then none is left
     */
    public static CpuWorkers start(List<String> pinning, int count) throws IOException {
        CpuWorkers started = new CpuWorkers();
        List<String> command = new ArrayList<>(pinning);
        command.addAll(HASH);
        try {
            for (int i = 0; i < count; i++) {
                started.workers.add(Child.start("CPU worker", command));
            }
        } catch (IOException e) {
            started.close();
            throw e;
        }
        return started;
    }

    /** True if all of them run. */
    public boolean areAlive() {
        return workers.stream().allMatch(Child::isAlive);
    }

    @Override
    public void close() {
        workers.forEach(Child::terminate); // they do not look at their standard input
        workers.forEach(Child::close);
        workers.clear();
    }
}
