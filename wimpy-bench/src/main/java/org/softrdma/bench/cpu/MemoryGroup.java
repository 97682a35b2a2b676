package org.softrdma.bench.cpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A control group of our own in which processes may use so much memory and no more. Changes no group but its own. */
public final class MemoryGroup implements AutoCloseable {
    private static final Path V1 = Path.of("/sys/fs/cgroup/memory");
    private static final Path V2 = Path.of("/sys/fs/cgroup");
    private static final int ATTEMPTS = 100;
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Path group;

    private MemoryGroup(Path group) {
        this.group = group;
    }

    /**
     * Makes a group.
     *
     * @param limitBytes most memory of its processes, file pages included
     * @throws IOException with the reason if that is not possible here
     */
    public static MemoryGroup create(long limitBytes) throws IOException {
        boolean first = Files.exists(V1.resolve("memory.limit_in_bytes"));
        Path own = ownGroup(first ? V1 : V2, first ? "memory" : "");
        Path group = own.resolve("softrdma-pinning-" + ProcessHandle.current().pid());
        try {
            Files.createDirectory(group);
        } catch (IOException e) {
            throw new IOException("no memory control group can be made here (" + e + "); root may", e);
        }
        MemoryGroup made = new MemoryGroup(group);
        try {
            Files.writeString(group.resolve(first ? "memory.limit_in_bytes" : "memory.max"), Long.toString(limitBytes));
            return made;
        } catch (IOException e) {
            made.close();
            throw new IOException("the control group " + group + " takes no memory limit (" + e + ")", e);
        }
    }

    private static Path ownGroup(Path top, String controller) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/cgroup"))) {
            String[] words = line.split(":", 3);
            if (words.length == 3 && List.of(words[1].split(",", -1)).contains(controller)) {
                Path own = top.resolve(words[2].replaceFirst("^/+", "")).normalize();
                return own.startsWith(top) && Files.isDirectory(own) ? own : top;
            }
        }
        return top;
    }

    /** What to put before a command so that it runs in the group. */
    public List<String> prefix() {
        return List.of("sh", "-c", "echo $$ > " + group.resolve("cgroup.procs") + " && exec \"$@\"", "sh");
    }

    /** Removes the group. Its processes have ended or are about to: the kernel keeps it until then. */
    @Override
    public void close() {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                Files.deleteIfExists(group);
                return;
            } catch (IOException e) {
                LockSupport.parkNanos(RETRY_NS);
            }
        }
    }
}
