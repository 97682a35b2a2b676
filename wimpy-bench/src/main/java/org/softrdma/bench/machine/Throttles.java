package org.softrdma.bench.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds out by which means this machine lets us slow down a server: cpufreq, else a CPU quota, else none. */
public final class Throttles {
    private static final String CONTROLLER = "cpu";
    private static final int SUPER_OPTIONS = 2;
    private static final int MOUNT_ROOT = 3;
    private static final int MOUNT_POINT = 4;

    private final Path root;
    private final List<Integer> cores;
    private final List<String> problems = new ArrayList<>();

    private Throttles(Path root, List<Integer> cores) {
        this.root = root;
        this.cores = cores;
    }

    /**
     * What was found.
     *
     * @param throttle empty if there is none
     * @param problem why there is none, or no better one; empty if cpufreq works
     */
    public record Found(Optional<Throttle> throttle, String problem) {}

    /**
     * Looks, and prepares what it finds. However this process ends, short of SIGKILL, limits are lifted.
     *
     * @param cores the cores of the servers
     */
    public static Found find(List<Integer> cores) {
        return find(
                Path.of("/"), cores, "softrdma-wimpy-" + ProcessHandle.current().pid());
    }

    /**
     * Looks below a directory.
     *
     * @param root where {@code proc} and {@code sys} are
     * @param cores the cores of the servers
     * @param name of a control group to make
     */
    public static Found find(Path root, List<Integer> cores, String name) {
        Throttles search = new Throttles(root, cores);
        Optional<Throttle> throttle = search.frequency().or(() -> search.quota(name));
        return new Found(throttle, String.join("; ", search.problems));
    }

    private Optional<Throttle> frequency() {
        try {
            return Optional.of(new FrequencyThrottle(cores.stream()
                    .map(core -> root.resolve("sys/devices/system/cpu/cpu" + core + "/cpufreq"))
                    .toList()));
        } catch (IOException e) {
            problems.add("no cpufreq: " + e.getMessage());
            return Optional.empty();
        }
    }

    private Optional<Throttle> quota(String name) {
        List<String> refusals = new ArrayList<>();
        for (String line : KernelFile.read(root.resolve("proc/self/mountinfo"))
                .orElse("")
                .lines()
                .toList()) {
            for (Candidate candidate : candidates(line)) {
                try {
                    return Optional.of(new QuotaThrottle(candidate.version, candidate.parent, name, cores.size()));
                } catch (IOException e) {
                    refusals.add(String.valueOf(e.getMessage()));
                }
            }
        }
        problems.add(
                refusals.isEmpty()
                        ? "no CPU quota: no control group here has the cpu controller"
                        : "no CPU quota: not allowed to create a control group (" + refusals.getFirst()
                                + "); run as root");
        return Optional.empty();
    }

    /** A group in which one of ours would have a quota. */
    private record Candidate(QuotaThrottle.Version version, Path parent) {}

    /** The groups of one mount, our own first, then those above it. */
    private List<Candidate> candidates(String mountLine) {
        String[] halves = mountLine.split(" - ", -1);
        String[] mount = halves[0].split(" ", -1);
        String[] file = halves[halves.length - 1].split(" ", -1);
        if (halves.length != 2 || mount.length <= MOUNT_POINT || file.length <= SUPER_OPTIONS) {
            return List.of();
        }
        boolean first = file[0].equals("cgroup")
                && List.of(file[SUPER_OPTIONS].split(",", -1)).contains(CONTROLLER);
        if (!first && !file[0].equals("cgroup2")) {
            return List.of();
        }
        QuotaThrottle.Version version = first ? QuotaThrottle.Version.V1 : QuotaThrottle.Version.V2;
        Path top = root.resolve(mount[MOUNT_POINT].substring(1));
        List<Candidate> found = new ArrayList<>();
        for (Path at = ControlGroup.own(root, first ? CONTROLLER : "", top, mount[MOUNT_ROOT]);
                at != null && at.startsWith(top);
                at = at.getParent()) {
            if (gives(version, at)) {
                found.add(new Candidate(version, at));
            }
        }
        return found;
    }

    /** Whether a group below this one has a CPU quota. */
    private static boolean gives(QuotaThrottle.Version version, Path group) {
        return version == QuotaThrottle.Version.V1
                ? Files.exists(group.resolve("cpu.shares"))
                : List.of(KernelFile.firstLine(group.resolve("cgroup.subtree_control"))
                                .orElse("")
                                .split(" ", -1))
                        .contains(CONTROLLER);
    }
}
