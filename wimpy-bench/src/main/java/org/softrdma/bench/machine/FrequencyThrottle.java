package org.softrdma.bench.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Slows the clock of cores by cpufreq's {@code scaling_max_freq}, and restores what was there. Frequencies in kHz. */
final class FrequencyThrottle implements Throttle {
    private static final String LIMIT = "scaling_max_freq";
    private static final String FASTEST = "cpuinfo_max_freq";
    private static final String SLOWEST = "cpuinfo_min_freq";

    private final Map<Path, String> originals = new LinkedHashMap<>();

    /**
     * A throttle.
     *
     * @param policies the {@code cpufreq} directories of the cores
     * @throws IOException if there is no such thing or it may not be written
     */
    FrequencyThrottle(List<Path> policies) throws IOException {
        for (Path policy : policies) {
            Path limit = policy.resolve(LIMIT);
            if (!Files.isWritable(limit)) {
                throw new IOException(limit + (Files.exists(limit) ? " is not writable" : " does not exist"));
            }
            originals.put(limit, Files.readString(limit).trim());
        }
    }

    @Override
    public String description() {
        return "the clock of the server's core was limited by cpufreq, as in the paper; the kernel rounds to the steps of the"
                + " CPU";
    }

    @Override
    public String method() {
        return "cpufreq";
    }

    /** Nothing to do: what is limited is the core. */
    @Override
    public void adopt(long pid) {}

    @Override
    public void limit(int percent) throws IOException {
        for (Map.Entry<Path, String> entry : originals.entrySet()) {
            Path limit = entry.getKey();
            if (percent == FULL_PERCENT) {
                Files.writeString(limit, entry.getValue());
                continue;
            }
            long wanted = number(limit.resolveSibling(FASTEST)) * percent / FULL_PERCENT;
            Files.writeString(limit, Long.toString(Math.max(number(limit.resolveSibling(SLOWEST)), wanted)));
        }
    }

    private static long number(Path file) throws IOException {
        String text = Files.readString(file).trim();
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IOException(file + " has '" + text + "' instead of a frequency", e);
        }
    }

    @Override
    public void close() {
        List<String> failures = new ArrayList<>();
        originals.forEach((limit, value) -> {
            try {
                Files.writeString(limit, value);
            } catch (IOException e) {
                failures.add("write " + value + " to " + limit + " by hand: " + e.getMessage());
            }
        });
        if (!failures.isEmpty()) {
            throw new IllegalStateException("the clock is still limited: " + String.join("; ", failures));
        }
    }
}
