package org.softrdma.bench.machine;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a measurement was taken on, for its report.
 *
 * @param cpuModel the CPU
 * @param architecture as the JVM names it
 * @param cpus processors available to this process
 * @param memoryBytes main memory, 0 if unknown
 * @param kernel release of the kernel
 * @param jdk vendor and version of the JVM
 * @param jvmFlags its arguments
 * @param governor how the clock of cpu 0 is ruled; null where the kernel does not tell
 * @param transparentHugePages the setting in force; null where the kernel does not tell
 * @param commit of the sources, with {@code +} if they were changed since; null if unknown
 */
public record MachineDescription(
        String cpuModel,
        String architecture,
        int cpus,
        long memoryBytes,
        String kernel,
        String jdk,
        List<String> jvmFlags,
        @Nullable String governor,
        @Nullable String transparentHugePages,
        @Nullable String commit) {
    private static final long BYTES_PER_KIB = 1024;
    private static final long GIT_TIMEOUT_SECONDS = 5;

    /**
     * Describes this machine and JVM.
     *
     * @param sources a directory inside the clone the program was built from; null if there is none
     */
    public static MachineDescription here(@Nullable Path sources) {
        var operatingSystem = ManagementFactory.getOperatingSystemMXBean();
        var runtime = ManagementFactory.getRuntimeMXBean();
        return new MachineDescription(
                cpuModel(KernelFile.read(Path.of("/proc/cpuinfo")).orElse(""), operatingSystem.getArch()),
                operatingSystem.getArch(),
                Runtime.getRuntime().availableProcessors(),
                memoryBytes(KernelFile.read(Path.of("/proc/meminfo")).orElse("")),
                operatingSystem.getName() + " " + operatingSystem.getVersion(),
                runtime.getVmVendor() + " " + Runtime.version(),
                List.copyOf(runtime.getInputArguments()),
                KernelFile.firstLine(Path.of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
                        .orElse(null),
                KernelFile.firstLine(Path.of("/sys/kernel/mm/transparent_hugepage/enabled"))
                        .map(MachineDescription::chosen)
                        .orElse(null),
                sources == null ? null : commit(sources).orElse(null));
    }

    /** The model in /proc/cpuinfo; Arm kernels give only numbers there. */
    public static String cpuModel(String cpuinfo, String architecture) {
        return value(cpuinfo, "model name")
                .or(() -> value(cpuinfo, "Model"))
                .or(() -> value(cpuinfo, "CPU part").map(part -> architecture + " part " + part))
                .orElse(architecture);
    }

    /** The main memory in /proc/meminfo; 0 if it is not there. */
    public static long memoryBytes(String meminfo) {
        return value(meminfo, "MemTotal")
                .map(text -> Long.parseLong(text.replace("kB", "").trim()) * BYTES_PER_KIB)
                .orElse(0L);
    }

    /** The word in brackets of a setting such as {@code always [madvise] never}. */
    public static String chosen(String setting) {
        int start = setting.indexOf('[');
        int end = setting.indexOf(']');
        return start >= 0 && end > start ? setting.substring(start + 1, end) : setting;
    }

    private static Optional<String> value(String text, String key) {
        return text.lines()
                .filter(line -> line.startsWith(key) && line.contains(":"))
                .findFirst()
                .map(line -> line.substring(line.indexOf(':') + 1).trim());
    }

    private static Optional<String> commit(Path sources) {
        return git(sources, "rev-parse", "--short=12", "HEAD")
                .map(hash -> git(sources, "status", "--porcelain", "--untracked-files=no")
                                .filter(String::isEmpty)
                                .isPresent()
                        ? hash
                        : hash + "+");
    }

    private static Optional<String> git(Path directory, String... arguments) {
        ProcessBuilder builder = new ProcessBuilder("git");
        builder.command().addAll(List.of(arguments));
        builder.directory(directory.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD);
        try {
            Process process = builder.start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
            return process.waitFor(GIT_TIMEOUT_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0
                    ? Optional.of(said)
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
