package org.softrdma.bench.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On trees of files that look like /proc and /sys. */
class ThrottlesTest {
    private static final String GROUP = "ours";
    private static final String V1_MOUNT =
            "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n";
    private static final String V2_MOUNT = "40 31 0:30 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";

    @TempDir
    private Path root;

    private Path write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private Throttles.Found find(Integer... cores) {
        return Throttles.find(root, List.of(cores), GROUP);
    }

    private String read(String path) throws IOException {
        return Files.readString(root.resolve(path)).trim();
    }

    @Test
    void shouldLimitTheClockWhereItMayAndRestoreIt() throws IOException {
        String policy = "sys/devices/system/cpu/cpu1/cpufreq/";
        write(policy + "scaling_max_freq", "2300000\n");
        write(policy + "cpuinfo_max_freq", "2400000\n");
        write(policy + "cpuinfo_min_freq", "800000\n");
        try (Throttle throttle = find(1).throttle().orElseThrow()) {
            assertEquals("cpufreq", throttle.method());
            throttle.limit(50);
            assertEquals("1200000", read(policy + "scaling_max_freq"));
            throttle.limit(25);
            assertEquals("800000", read(policy + "scaling_max_freq"), "no slower than the CPU can");
            throttle.limit(100);
            assertEquals("2300000", read(policy + "scaling_max_freq"));
            throttle.limit(50);
        }
        assertEquals("2300000", read(policy + "scaling_max_freq"));
    }

    @Test
    void shouldTakeQuotaOfVersion1InItsOwnGroup() throws IOException {
        write("proc/self/mountinfo", V1_MOUNT);
        write("proc/self/cgroup", "3:cpu,cpuacct:/user/me\n0::/elsewhere\n");
        write("sys/fs/cgroup/cpu/user/me/cpu.shares", "1024\n");
        write("sys/fs/cgroup/cpu/cpu.shares", "1024\n");
        Throttles.Found found = find(1);
        Throttle throttle = found.throttle().orElseThrow();
        String group = "sys/fs/cgroup/cpu/user/me/" + GROUP + "/";
        assertEquals("quota", throttle.method());
        assertTrue(throttle.description().contains("cgroup v1"), throttle.description());
        assertTrue(throttle.description().contains("not a slower clock"), throttle.description());
        assertTrue(found.problem().contains("cpufreq"), found.problem());
        assertEquals("-1", read(group + "cpu.cfs_quota_us"));
        throttle.adopt(4711);
        assertEquals("4711", read(group + "cgroup.procs"));
        throttle.limit(25);
        assertEquals("10000", read(group + "cpu.cfs_period_us"));
        assertEquals("2500", read(group + "cpu.cfs_quota_us"));
        throttle.limit(100);
        assertEquals("-1", read(group + "cpu.cfs_quota_us"));
        removeFilesOf(group);
        throttle.close();
        assertFalse(Files.exists(root.resolve(group)));
    }

    @Test
    void shouldTakeQuotaOfVersion2WhereAParentHandsItDown() throws IOException {
        write("proc/self/mountinfo", V2_MOUNT);
        write("proc/self/cgroup", "0::/user.slice/session\n");
        write("sys/fs/cgroup/user.slice/session/cgroup.subtree_control", "\n");
        write("sys/fs/cgroup/user.slice/cgroup.subtree_control", "memory cpu pids\n");
        Throttle throttle = find(1, 2).throttle().orElseThrow();
        String group = "sys/fs/cgroup/user.slice/" + GROUP + "/";
        assertEquals("max 10000", read(group + "cpu.max"));
        throttle.limit(50);
        assertEquals("10000 10000", read(group + "cpu.max"), "half of each of two cores");
        removeFilesOf(group);
        throttle.close();
        assertFalse(Files.exists(root.resolve(group)));
    }

    @Test
    void shouldSayWhyThereIsNone() throws IOException {
        write("proc/self/mountinfo", V2_MOUNT);
        write("proc/self/cgroup", "0::/\n");
        write("sys/fs/cgroup/cgroup.subtree_control", "memory\n");
        Throttles.Found found = find(1);
        assertTrue(found.throttle().isEmpty());
        assertTrue(found.problem().contains("no cpufreq"), found.problem());
        assertTrue(found.problem().contains("no control group here has the cpu controller"), found.problem());
    }

    @Test
    void shouldSayWhenAGroupMayNotBeMade() throws IOException {
        write("proc/self/mountinfo", V1_MOUNT);
        write("proc/self/cgroup", "3:cpu:/\n");
        write("sys/fs/cgroup/cpu/cpu.shares", "1024\n");
        write("sys/fs/cgroup/cpu/" + GROUP, "something is in the way");
        Throttles.Found found = find(1);
        assertTrue(found.throttle().isEmpty());
        assertTrue(found.problem().contains("not allowed to create a control group"), found.problem());
    }

    /** The kernel's files go with their group, these do not. */
    private void removeFilesOf(String group) throws IOException {
        try (var files = Files.list(root.resolve(group))) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }
}
