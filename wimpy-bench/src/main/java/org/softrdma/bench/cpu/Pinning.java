package org.softrdma.bench.cpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.machine.SystemCommand;

/** Binds processes and threads to a core with {@code taskset}; where that cannot be done, says why instead of pretending. */
public final class Pinning {
    private static final List<Path> PLACES =
            List.of(Path.of("/usr/bin/taskset"), Path.of("/bin/taskset"), Path.of("/usr/local/bin/taskset"));

    private static final Path THIS_THREAD = Path.of("/proc/thread-self");
    private static final Path CORES = Path.of("/sys/devices/system/cpu");

    private final @Nullable Path taskset;

    private Pinning(@Nullable Path taskset) {
        this.taskset = taskset;
    }

    /** Looks for {@code taskset}. */
    public static Pinning detect() {
        return new Pinning(
                PLACES.stream().filter(Files::isExecutable).findFirst().orElse(null));
    }

    /** True if this machine has a core, as far as Linux tells. */
    public static boolean exists(int core) {
        return !Files.isDirectory(CORES) || Files.isDirectory(CORES.resolve("cpu" + core));
    }

    /** Why nothing can be pinned here; empty if it can. */
    public Optional<String> problem() {
        return taskset == null
                ? Optional.of("not pinned: there is no taskset here; install util-linux")
                : Optional.empty();
    }

    /**
     * What to put before a command so that it runs on one core; nothing if that cannot be done.
     *
     * @param core the core's number; negative for any
     */
    public List<String> prefix(int core) {
        return prefix(core < 0 ? List.of() : List.of(core));
    }

    /**
     * What to put before a command so that it runs on some cores; nothing if that cannot be done.
     *
     * @param cores their numbers; none for any
     */
    public List<String> prefix(List<Integer> cores) {
        String list = cores.stream().map(core -> Integer.toString(core)).collect(Collectors.joining(","));
        return taskset == null || cores.isEmpty() ? List.of() : List.of(taskset.toString(), "-c", list);
    }

    /**
     * Binds every thread of this process, and those they will start, to one core.
     *
     * @param core the core's number; negative does nothing
     * @return why it did not work; empty if it did
     */
    public Optional<String> pinThisProcess(int core) {
        if (core < 0 || taskset == null) {
            return core < 0 ? Optional.empty() : problem();
        }
        return pinned(core, List.of("-a"), Long.toString(ProcessHandle.current().pid()));
    }

    /**
     * Binds the calling thread to one core.
     *
     * @param core the core's number
     * @return why it did not work; empty if it did
     */
    public Optional<String> pinThisThread(int core) {
        if (taskset == null) {
            return problem();
        }
        try {
            Path self = Files.readSymbolicLink(THIS_THREAD);
            return pinned(core, List.of(), String.valueOf(self.getFileName()));
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.of("not pinned to core " + core + ": " + THIS_THREAD + ": " + e.getMessage());
        }
    }

    private Optional<String> pinned(int core, List<String> options, String id) {
        List<String> command = new ArrayList<>();
        command.add(String.valueOf(taskset));
        command.addAll(options);
        command.addAll(List.of("-c", "-p", Integer.toString(core), id));
        try {
            SystemCommand.run(command);
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of("not pinned to core " + core + ": " + e.getMessage());
        }
    }
}
