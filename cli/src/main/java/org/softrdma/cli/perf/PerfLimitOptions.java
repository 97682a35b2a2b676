package org.softrdma.cli.perf;

import picocli.CommandLine.Option;

/** The options of studies whose ratios have a limit. */
final class PerfLimitOptions {
    /** What keeps a study's ratios within the project's promise. */
    private static final String DEFAULT_LIMIT = "1.15";

    @Option(
            names = "--limit",
            paramLabel = "RATIO",
            defaultValue = DEFAULT_LIMIT,
            description = "Highest ratio that --check accepts (${DEFAULT-VALUE}).")
    double limit;

    @Option(names = "--check", description = "Exit with code 1 if a ratio exceeds --limit.")
    boolean check;

    PerfLimitOptions() {}
}
