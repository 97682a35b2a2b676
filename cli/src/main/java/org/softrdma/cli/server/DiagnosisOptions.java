package org.softrdma.cli.server;

import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.KvServerContext;
import picocli.CommandLine.Option;

/** What clients of {@code softrdma server} may see of the items and of each other. */
final class DiagnosisOptions {
    @Option(
            names = "-D",
            paramLabel = "CHAR",
            description = "Count operations by key prefix, which ends with this character, for stats"
                    + " detail (without -D the character is a colon, and counting starts with stats detail on).")
    private @Nullable String delimiter;

    @Option(
            names = {"-X", "--disable-dumping"},
            description = "Refuse stats cachedump, lru_crawler metadump and lru_crawler mgdump.")
    private boolean noDumps;

    @Option(
            names = {"-W", "--disable-watch"},
            description = "Refuse watch.")
    private boolean noWatching;

    DiagnosisOptions() {}

    void check(OptionFaults faults) {
        faults.check(
                delimiter == null
                        || (delimiter.length() == 1 && delimiter.charAt(0) > ' ' && delimiter.charAt(0) <= '~'),
                "-D " + delimiter,
                "one visible character");
    }

    /**
     * Sets what the options say.
     *
     * @param context takes it
     */
    void apply(KvServerContext context) {
        context.diagnosis(settings -> settings.withDumpAllowed(!noDumps).withWatchAllowed(!noWatching));
        if (delimiter != null) {
            char ends = delimiter.charAt(0);
            context.diagnosis(settings -> settings.withPrefixes(ends));
        }
    }
}
