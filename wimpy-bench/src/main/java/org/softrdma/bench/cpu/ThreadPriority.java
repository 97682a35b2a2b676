package org.softrdma.bench.cpu;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.bench.machine.KernelFile;
import org.softrdma.bench.machine.SystemCommand;

/**
 * The nice values of single threads of a process, by {@code renice}: on Linux a nice value belongs to a thread (setpriority(2),
 * "C library/kernel differences"). Stateless.
 */
public final class ThreadPriority {
    private ThreadPriority() {}

    /**
     * Sets the nice value of all threads of a class.
     *
     * @param pid of their process
     * @param which threads
     * @param nice from -20, which is first, to 19; below 0 takes rights (CAP_SYS_NICE, or RLIMIT_NICE)
     * @throws IOException if it cannot be set, or if there are no such threads
     */
    public static void set(long pid, ThreadClass which, int nice) throws IOException {
        List<String> threads = threads(pid, which);
        if (threads.isEmpty()) {
            throw new IOException("process " + pid + " has no threads of class " + which.label());
        }
        List<String> command = new ArrayList<>(List.of("renice", "-n", Integer.toString(nice), "-p"));
        command.addAll(threads);
        SystemCommand.run(command);
    }

    private static List<String> threads(long pid, ThreadClass which) throws IOException {
        List<String> found = new ArrayList<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path task : tasks) {
                boolean isOne = KernelFile.firstLine(task.resolve("comm"))
                        .filter(name -> ThreadClass.of(name) == which)
                        .isPresent();
                if (isOne) {
                    found.add(String.valueOf(task.getFileName()));
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return found;
    }
}
