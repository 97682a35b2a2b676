package org.softrdma.ibverbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How much memory this process may pin, for messages: RLIMIT_MEMLOCK from {@code /proc/self/limits}, which does not
 * apply to a process with CAP_IPC_LOCK ({@code ib_umem_get} in the kernel).
 *
 * @param bytes the limit; {@link Long#MAX_VALUE} for none
 * @param exempt the process has CAP_IPC_LOCK
 */
public record LockedMemory(long bytes, boolean exempt) {
    private static final String LIMIT = "Max locked memory";
    private static final String CAPABILITIES = "CapEff:";
    private static final int CAP_IPC_LOCK = 14;
    private static final long KIB = 1024;

    /** The current limit of this process; no limit if the kernel does not tell. */
    public static LockedMemory ofThisProcess() {
        return new LockedMemory(limit(lines("/proc/self/limits")), exempt(lines("/proc/self/status")));
    }

    private static List<String> lines(String file) {
        try {
            return Files.readAllLines(Path.of(file));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The soft limit in the lines of {@code /proc/self/limits}. */
    static long limit(List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith(LIMIT))
                .map(line -> line.substring(LIMIT.length()).trim().replaceFirst(" .*", ""))
                .mapToLong(soft -> soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft))
                .findFirst()
                .orElse(Long.MAX_VALUE);
    }

    /** Whether the lines of {@code /proc/self/status} have the capability. */
    static boolean exempt(List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith(CAPABILITIES))
                .mapToLong(line -> Long.parseUnsignedLong(
                        line.substring(CAPABILITIES.length()).trim(), 16))
                .anyMatch(capabilities -> ((capabilities >>> CAP_IPC_LOCK) & 1) != 0);
    }

    /** True if there is no limit or it does not apply. */
    public boolean isUnlimited() {
        return exempt || bytes == Long.MAX_VALUE;
    }

    /** Why memory cannot be pinned, and what to do. */
    public String howToPinMore() {
        return "cannot be pinned: the locked-memory limit is " + this
                + "; raise it with ulimit -l (docker: --ulimit memlock=-1), or register less. All of the device's regions"
                + " may also be in use";
    }

    @Override
    public String toString() {
        if (bytes == Long.MAX_VALUE) {
            return "unlimited";
        }
        return bytes / KIB + " KiB" + (exempt ? " (does not apply: this process has CAP_IPC_LOCK)" : "");
    }
}
