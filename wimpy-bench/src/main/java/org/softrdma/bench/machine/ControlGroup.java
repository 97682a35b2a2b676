package org.softrdma.bench.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A control group that we made, of either version. Changes no group but its own. */
final class ControlGroup implements AutoCloseable {
    private static final String PROCESSES = "cgroup.procs";
    private static final int ATTEMPTS = 100;
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Path directory;

    /**
     * Makes a group.
     *
     * @param parent the group in which to make it
     * @throws IOException if it may not be made
     */
    ControlGroup(Path parent, String name) throws IOException {
        directory = Files.createDirectory(parent.resolve(name));
    }

    /**
     * The group that this process is in.
     *
     * @param root where {@code proc} is
     * @param controller for version 1 the controller, for version 2 the empty string
     * @param top where the groups are mounted
     * @param mountRoot which of the groups is mounted there: {@code /} unless this is a container
     * @return {@code top} if it cannot be found
     */
    static Path own(Path root, String controller, Path top, String mountRoot) {
        String own = KernelFile.read(root.resolve("proc/self/cgroup"))
                .orElse("")
                .lines()
                .map(line -> line.split(":", 3))
                .filter(words ->
                        words.length == 3 && List.of(words[1].split(",", -1)).contains(controller))
                .map(words -> words[2])
                .findFirst()
                .orElse("/");
        String below = own.startsWith(mountRoot) ? own.substring(mountRoot.length()) : own;
        Path group = top.resolve(below.replaceFirst("^/+", "")).normalize();
        return group.startsWith(top) && Files.isDirectory(group) ? group : top;
    }

    /** Writes one of its files, such as a limit. */
    void set(String file, String value) throws IOException {
        Files.writeString(directory.resolve(file), value);
    }

    /** Moves a process into it. */
    void adopt(long pid) throws IOException {
        set(PROCESSES, Long.toString(pid));
    }

    /** What to put before a command so that it runs in the group. */
    List<String> prefix() {
        return List.of(
                "sh",
                "-c",
                "echo $$ > \"$1\" && shift && exec \"$@\"",
                "sh",
                directory.resolve(PROCESSES).toString());
    }

    @Override
    public String toString() {
        return directory.toString();
    }

    /** Removes the group. Its processes have ended or are about to: the kernel keeps it until then. */
    @Override
    public void close() {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                Files.deleteIfExists(directory);
                return;
            } catch (IOException e) {
                LockSupport.parkNanos(RETRY_NS);
            }
        }
    }
}
