package org.softrdma.cli.server;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of memcached that mean nothing here: those that keep no server from starting, and the one that does. */
final class IdleOptions {
    @Option(
            names = {"-r", "--enable-coredumps"},
            hidden = true)
    private boolean coreDumps;

    @Option(
            names = {"-N", "--napi_ids"},
            paramLabel = "N",
            hidden = true)
    private @Nullable Integer napiIds;

    @Option(
            names = {"-e", "--restart-file"},
            paramLabel = "FILE",
            hidden = true)
    private @Nullable Path restartFile;

    IdleOptions() {}

    void check(OptionFaults faults) {
        faults.check(
                restartFile == null,
                "-e " + restartFile,
                "no such option: items do not outlive their server; --memory-file keeps them in a file while it runs");
    }

    /** A sentence for each that was given. */
    List<String> warnings() {
        List<String> warnings = new ArrayList<>();
        if (coreDumps) {
            warnings.add("-r is ignored: the limit of the shell counts, see ulimit -c.");
        }
        if (napiIds != null) {
            warnings.add("-N is ignored: connections are spread over all threads.");
        }
        return warnings;
    }
}
