package org.softrdma.cli.perf;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.floor.FloorSetup;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.read.NativePrograms;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.UserErrorException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that {@code perf floor}, {@code perf scale} and {@code perf verbs} share. */
final class PerfStudyOptions {
    @Spec(Spec.Target.MIXEE)
    CommandSpec mixee;

    @Mixin
    ProviderMixin provider = new ProviderMixin();

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "7",
            description = "Number of interleaved rounds (${DEFAULT-VALUE}).")
    int rounds;

    @Option(
            names = "--millis",
            paramLabel = "N",
            defaultValue = "700",
            description = "Length of a round in milliseconds (${DEFAULT-VALUE}).")
    int millis;

    @Option(
            names = "--warm-up-millis",
            paramLabel = "N",
            defaultValue = "2000",
            description = "Warm-up of each system and row in milliseconds (${DEFAULT-VALUE}).")
    int warmUpMillis;

    @Option(
            names = "--server-cpu",
            paramLabel = "N",
            defaultValue = "1",
            description = "Core for the responders (${DEFAULT-VALUE}).")
    int serverCpu;

    @Option(
            names = "--client-cpu",
            paramLabel = "N",
            defaultValue = "0",
            description = "Core for the load (${DEFAULT-VALUE}).")
    int clientCpu;

    @Option(names = "--json", paramLabel = "FILE", description = "Also write the results to this file.")
    @Nullable
    Path json;

    @Option(
            names = "--native-sources",
            paramLabel = "DIR",
            description = "Directory of the C baseline's sources (wimpy-bench/native in the clone).")
    @Nullable
    Path nativeSources;

    PerfStudyOptions() {}

    /** Everything a study needs; compiles the C yardstick when needed. */
    FloorSetup setup() {
        return setup(null);
    }

    /**
     * The same, with another build beside this one.
     *
     * @param otherBuild its jar, or null
     */
    FloorSetup setup(@Nullable Path otherBuild) {
        if (otherBuild != null) {
            OwnProgram.requireJar("--beside", otherBuild);
        }
        Path sources = nativeSources == null ? OwnProgram.nativeSources() : nativeSources;
        NativePrograms programs;
        try {
            programs = NativePrograms.prepare(
                    sources, sources.resolveSibling("target").resolve("native"));
        } catch (MeasurementException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        }
        provider.tolerateStoppedProcesses();
        List<String> arguments = arguments("responder");
        try {
            return new FloorSetup(
                    (Map<String, String> wanted) -> provider.openWithKnown(wanted),
                    OwnProgram.again(mixee.root().userObject().getClass(), arguments),
                    otherBuild == null ? List.of() : OwnProgram.ofOtherBuild(otherBuild, arguments),
                    overTcp(),
                    OwnProgram.again(mixee.root().userObject().getClass(), arguments("read-bw")),
                    new LoopbackHosts(provider.rocePort()),
                    programs,
                    MachineDescription.here(OwnProgram.codeDirectory()),
                    mixee.commandLine().getOut(),
                    line -> {
                        mixee.commandLine().getErr().println(line);
                        mixee.commandLine().getErr().flush();
                    },
                    serverCpu,
                    clientCpu,
                    rounds,
                    millis,
                    warmUpMillis);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(mixee.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    /** Beside RoCEv2 in user space: the same device on its other wire. */
    private FloorSetup.@Nullable SoftRnic overTcp() {
        if (provider.rocePort().isEmpty()) {
            return null;
        }
        List<String> arguments = new ArrayList<>(List.of("perf", "responder"));
        arguments.addAll(provider.argumentsOverTcp());
        return new FloorSetup.SoftRnic(
                provider::openOverTcp,
                OwnProgram.again(mixee.root().userObject().getClass(), arguments));
    }

    /** Of a command of {@code perf} on the same provider. */
    private List<String> arguments(String command) {
        List<String> arguments = new ArrayList<>(List.of("perf", command));
        arguments.addAll(provider.arguments());
        return arguments;
    }
}
