package org.softrdma.cli.perf;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.message.EchoResponder;
import org.softrdma.bench.read.ReadResponder;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.DeviceProgress;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma perf responder}: the child process that {@code perf floor}, {@code perf scale} and {@code perf verbs} measure. */
@Command(
        name = "responder",
        hidden = true,
        description = "Serve memory to READs, or answer requests, on the loopback address. Prints where; stops when its"
                + " input ends.")
final class PerfResponderCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description = "Address to listen on.")
    private String listen = "";

    @Option(
            names = {"-p", "--port"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Port; 0 picks a free one.")
    private int port;

    @Option(
            names = "--progress",
            paramLabel = "engine|manual",
            defaultValue = "engine",
            description =
                    "engine, or manual: the main thread drives the device, without pause; with --echo only if --spin"
                            + " is given too.")
    private DeviceProgress progress = DeviceProgress.ENGINE;

    @Option(names = "--memory", paramLabel = "SIZE", defaultValue = "64M", description = "Size of the memory to serve.")
    private String memory = "";

    @Option(
            names = "--slices",
            paramLabel = "N",
            split = ",",
            description = "Register this many equal slices instead of the whole.")
    private List<Integer> slices = List.of();

    @Option(
            names = "--overlap",
            paramLabel = "SIZE",
            defaultValue = "0",
            description = "How far each slice reaches into the next.")
    private String overlap = "";

    @Option(names = "--writable", description = "Peers may also WRITE.")
    private boolean writable;

    @Option(names = "--shared", description = "Processes on this host may read the memory by themselves.")
    private boolean shared;

    @Option(
            names = "--echo",
            description = "Serve no memory; answer SENDs by SENDs, and with --spin WRITEs by WRITEs, as the peer asks.")
    private boolean echo;

    @Option(names = "--spin", description = "With --echo: look for requests without pause.")
    private boolean spin;

    PerfResponderCommand() {}

    @Override
    public Integer call() {
        ReadResponder.Settings settings;
        try {
            settings = new ReadResponder.Settings(
                    new InetSocketAddress(listen, port),
                    ByteSize.parse(memory),
                    slices,
                    ByteSize.parse(overlap),
                    writable,
                    shared);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        try (VerbsDevice device = provider.openWithKnown(
                // One thread, because the server it stands for has one core.
                java.util.Map.of("progress", progress.option(), "threads", "1"))) {
            if (echo) {
                EchoResponder.run(device, settings.listen(), spin, System.in, System.out);
            } else {
                ReadResponder.run(device, settings, System.in, System.out);
            }
            return ExitCode.OK;
        } catch (MeasurementException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
    }
}
