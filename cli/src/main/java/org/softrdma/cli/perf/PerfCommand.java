package org.softrdma.cli.perf;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma perf}: perftest's tests, and what a READ of the software RNIC costs beside plain TCP. */
@Command(
        name = "perf",
        description = "Measure latency and bandwidth as perftest does, and compare with plain TCP.",
        subcommands = {
            PerfTestCommand.ReadLatency.class,
            PerfTestCommand.ReadBandwidth.class,
            PerfTestCommand.WriteLatency.class,
            PerfTestCommand.WriteBandwidth.class,
            PerfTestCommand.WriteImmediateBandwidth.class,
            PerfTestCommand.SendLatency.class,
            PerfTestCommand.SendBandwidth.class,
            PerfTestCommand.AtomicLatency.class,
            PerfTestCommand.AtomicBandwidth.class,
            PerfTestCommand.Echo.class,
            PerfFloorCommand.class,
            PerfScaleCommand.class,
            PerfVerbsCommand.class,
            PerfResponderCommand.class
        })
public final class PerfCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    PerfCommand() {}

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Missing subcommand.");
    }
}
