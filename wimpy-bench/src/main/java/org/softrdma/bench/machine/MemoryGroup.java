package org.softrdma.bench.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A control group of our own in which processes may use so much memory and no more. */
public final class MemoryGroup implements AutoCloseable {
    private static final Path ROOT = Path.of("/");
    private static final Path V1 = Path.of("/sys/fs/cgroup/memory");
    private static final Path V2 = Path.of("/sys/fs/cgroup");
    private static final String V1_LIMIT = "memory.limit_in_bytes";

    private final ControlGroup group;

    private MemoryGroup(ControlGroup group) {
        this.group = group;
    }

    /**
     * Makes a group.
     *
     * @param limitBytes most memory of its processes, file pages included
     * @throws IOException with the reason if that is not possible here
     */
    public static MemoryGroup create(long limitBytes) throws IOException {
        boolean first = Files.exists(V1.resolve(V1_LIMIT));
        Path own = ControlGroup.own(ROOT, first ? "memory" : "", first ? V1 : V2, ROOT.toString());
        ControlGroup group;
        try {
            group = new ControlGroup(
                    own, "softrdma-pinning-" + ProcessHandle.current().pid());
        } catch (IOException e) {
            throw new IOException("cannot create a memory control group (" + e + "); run as root", e);
        }
        try {
            group.set(first ? V1_LIMIT : "memory.max", Long.toString(limitBytes));
            return new MemoryGroup(group);
        } catch (IOException e) {
            group.close();
            throw new IOException("the control group " + group + " has no memory limit (" + e + ")", e);
        }
    }

    /** What to put before a command so that it runs in the group. */
    public List<String> prefix() {
        return group.prefix();
    }

    /** Removes the group. Its processes have ended or are about to. */
    @Override
    public void close() {
        group.close();
    }
}
