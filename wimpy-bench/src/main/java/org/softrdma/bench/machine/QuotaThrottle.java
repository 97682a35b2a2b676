package org.softrdma.bench.machine;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Limits processes to a part of one core's time by a control group of their own, of either version. They run at full speed
 * until the quota of a period is used up and then not at all: bursts, not a slower clock.
 */
final class QuotaThrottle implements Throttle {
    /** Microseconds: short beside a round, ten times the kernel's least quota at 10 percent. */
    static final int PERIOD_MICROS = 10_000;

    /** Which version, and its files. */
    enum Version {
        /** Version 1: {@code cpu.cfs_quota_us} and {@code cpu.cfs_period_us}. */
        V1("cgroup v1"),
        /** Version 2: {@code cpu.max}. */
        V2("cgroup v2");

        private final String label;

        Version(String label) {
            this.label = label;
        }
    }

    private final Version version;
    private final ControlGroup group;
    private final int cores;

    /**
     * Makes a group without a limit.
     *
     * @param version which version the parent is of
     * @param parent the group in which to make one
     * @param cores cores that the servers have, each of which the limit is a part of
     * @throws IOException if it may not be made, or its quota not be set
     */
    QuotaThrottle(Version version, Path parent, String name, int cores) throws IOException {
        this.version = version;
        this.cores = cores;
        group = new ControlGroup(parent, name);
        try {
            limit(FULL_PERCENT);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    @Override
    public String description() {
        return "the server's process had a CPU quota (" + version.label + ", period " + PERIOD_MICROS / 1000
                + " ms): bursts at full speed with pauses between them, not a slower clock";
    }

    @Override
    public String method() {
        return "quota";
    }

    @Override
    public void adopt(long pid) throws IOException {
        group.adopt(pid);
    }

    @Override
    public void limit(int percent) throws IOException {
        long quota = (long) PERIOD_MICROS * cores * percent / FULL_PERCENT;
        boolean limited = percent != FULL_PERCENT;
        if (version == Version.V2) {
            group.set("cpu.max", (limited ? Long.toString(quota) : "max") + " " + PERIOD_MICROS);
            return;
        }
        // The quota first: a group may not have a shorter period than its quota allows.
        group.set("cpu.cfs_quota_us", "-1");
        group.set("cpu.cfs_period_us", Integer.toString(PERIOD_MICROS));
        if (limited) {
            group.set("cpu.cfs_quota_us", Long.toString(quota));
        }
    }

    /** Removes the group. Its processes have ended or are about to. */
    @Override
    public void close() {
        group.close();
    }
}
