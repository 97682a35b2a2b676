package org.softrdma.cli;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import org.softrdma.bench.perf.ByteSize;
import org.softrdma.bench.perf.PerfException;
import org.softrdma.bench.perf.ReadResponder;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma perf responder}: the child process that {@code perf floor} and {@code perf scale} measure. */
@Command(
        name = "responder",
        hidden = true,
        description = "Serve memory to READs on the loopback address; says where on its output, ends with its input.")
final class PerfResponderCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(
            names = {"-p", "--port"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Port, 0 for any free one.")
    private int port;

    @Option(
            names = "--progress",
            paramLabel = "engine|manual",
            defaultValue = "engine",
            description = "engine, or manual: then the main thread drives the device without rest.")
    private PerfProgress progress = PerfProgress.ENGINE;

    @Option(names = "--memory", paramLabel = "SIZE", defaultValue = "64M", description = "Bytes of memory to serve.")
    private String memory = "";

    @Option(
            names = "--slices",
            paramLabel = "N",
            split = ",",
            description = "Register so many equal slices instead of the whole.")
    private List<Integer> slices = List.of();

    @Option(
            names = "--overlap",
            paramLabel = "SIZE",
            defaultValue = "0",
            description = "How far each slice reaches into the next.")
    private String overlap = "";

    PerfResponderCommand() {}

    @Override
    public Integer call() {
        ReadResponder.Settings settings;
        try {
            settings = new ReadResponder.Settings(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                    ByteSize.parse(memory),
                    slices,
                    ByteSize.parse(overlap));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        try (VerbsDevice device = PerfSupport.open(
                provider,
                // One thread, because the server it stands for has one core.
                java.util.Map.of("progress", progress.option(), "threads", "1"))) {
            ReadResponder.run(device, settings, System.in, System.out);
            return Main.EXIT_OK;
        } catch (PerfException | VerbsException e) {
            return PerfSupport.failed(spec, e);
        }
    }
}
