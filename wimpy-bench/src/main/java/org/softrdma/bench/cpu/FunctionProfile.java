package org.softrdma.bench.cpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.machine.SystemCommand;

/**
 * In which functions a process spends its CPU, as Linux's {@code perf} samples it by the clock of the CPU (perf-record(1)).
 *
 * @param percents percent of the samples by function, the largest first; code whose functions have no names stands under {@link
 *     #OWN_CODE} or {@link #KERNEL_CODE}
 */
public record FunctionProfile(Map<String, Double> percents) {
    /** Code of the process without names. */
    public static final String OWN_CODE = "code of the process";
    /** Code of the kernel without names: the kernel may keep them to itself (kptr_restrict in proc_sys_kernel(5)). */
    public static final String KERNEL_CODE = "code of the kernel";

    private static final int SAMPLES_PER_SECOND = 1999;
    private static final long PATIENCE_SECONDS = 20;
    /** {@code 12.34%  [k] name}; the letter is k for the kernel. */
    private static final Pattern LINE = Pattern.compile("\\s*([0-9.]+)%\\s+\\[(.)]\\s+(\\S+).*");

    private static final Pattern OF_KERNEL = Pattern.compile("\\[k]");
    /** Percent of the samples. */
    private static final double MOST_NAMELESS = 5;

    private static final Pattern NAMELESS = Pattern.compile("0x[0-9a-f]+");

    /** Sorts the functions. */
    public FunctionProfile {
        Map<String, Double> sorted = new LinkedHashMap<>();
        percents.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .forEach(each -> sorted.put(each.getKey(), each.getValue()));
        percents = sorted;
    }

    /**
     * Profiles a process while it works.
     *
     * @param pid of the process
     * @param durationNs how long
     * @param work what keeps the process busy; it should take as long or longer
     * @throws IOException if there is no {@code perf}, or it may not look at the process or the kernel, with what it said
     */
    public static FunctionProfile of(long pid, long durationNs, Runnable work) throws IOException {
        Path samples = Files.createTempFile("softrdma-profile", ".data");
        try (Child perf = Child.start("perf record", record(pid, durationNs, samples))) {
            work.run();
            OptionalInt code = perf.exitCode(PATIENCE_SECONDS);
            if (code.isEmpty() || code.getAsInt() != 0) {
                throw new IOException("perf record failed: "
                        + perf.errorOutput().lines().findFirst().orElse("it did not end"));
            }
            String said = SystemCommand.run(report(samples));
            FunctionProfile profile = parse(said);
            if (!OF_KERNEL.matcher(said).find() || profile.percents().getOrDefault(KERNEL_CODE, 0.0) > MOST_NAMELESS) {
                throw new IOException("perf does not show the functions of the kernel: run as root, and set"
                        + " kernel.kptr_restrict to 0 if that does not help");
            }
            return profile;
        } finally {
            Files.deleteIfExists(samples);
        }
    }

    private static List<String> record(long pid, long durationNs, Path samples) {
        return List.of(
                "perf",
                "record",
                "-q",
                "-e",
                "cpu-clock",
                "-F",
                Integer.toString(SAMPLES_PER_SECOND),
                "-p",
                Long.toString(pid),
                "-o",
                samples.toString(),
                "--",
                "sleep",
                String.format(Locale.ROOT, "%.3f", (double) durationNs / TimeUnit.SECONDS.toNanos(1)));
    }

    private static List<String> report(Path samples) {
        return List.of(
                "perf",
                "report",
                "-i",
                samples.toString(),
                "--stdio",
                "-q",
                "--no-children",
                "-g",
                "none",
                "-F",
                "overhead,sym");
    }

    /**
     * Reads a report.
     *
     * @param report a line for each function; other lines are left out
     * @throws IOException if there is no such line
     */
    static FunctionProfile parse(String report) throws IOException {
        Map<String, Double> percents = new TreeMap<>();
        for (String line : report.split("\n", -1)) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches()) {
                String name = NAMELESS.matcher(matcher.group(3)).matches()
                        ? matcher.group(2).equals("k") ? KERNEL_CODE : OWN_CODE
                        : matcher.group(3);
                percents.merge(name, Double.parseDouble(matcher.group(1)), Double::sum);
            }
        }
        if (percents.isEmpty()) {
            throw new IOException("perf report names no function: the process did nothing, or perf took no samples");
        }
        return new FunctionProfile(percents);
    }
}
