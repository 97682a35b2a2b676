package org.softrdma.cli.diagnosis;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.rping.RpingClient;
import org.softrdma.bench.rping.RpingException;
import org.softrdma.bench.rping.RpingOptions;
import org.softrdma.bench.rping.RpingServer;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.net.transport.AddressText;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma rping}: rping of rdmacm-utils, with its options and its protocol. */
@Command(
        name = "rping",
        description = {
            "Ping a peer over RDMA. Compatible with rping of rdmacm-utils, which may be at either end.",
            "The client advertises a buffer; the server READs it and WRITEs it back. As in rping, -v also"
                    + " prints each ping."
        },
        footer = {
            "",
            "Without -P, a server serves one client. It succeeds if the client disconnects between two pings. A client"
                    + " succeeds if all its pings come back.",
            "",
            "Examples:",
            "  softrdma rping -s -a 0.0.0.0 -v",
            "  softrdma rping -c -a 192.0.2.7 -C 10 -S 65535 -v -V"
        })
public final class RpingCommand implements Callable<Integer> {
    private static final int MAX_PORT = 65_535;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(names = "-s", description = "Run as the server.")
    private boolean server;

    @Option(names = "-c", description = "Run as the client.")
    private boolean client;

    @Option(
            names = "-a",
            paramLabel = "ADDRESS",
            description = "Client: the server's address. Server: the address to listen on (all addresses).")
    private @Nullable String address;

    @Option(
            names = "-p",
            paramLabel = "PORT",
            defaultValue = "" + RpingOptions.DEFAULT_PORT,
            description = "Port of the server (${DEFAULT-VALUE}). Server: 0 picks a free one.")
    private int port;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "0", description = "Client: number of pings (no limit).")
    private int count;

    @Option(
            names = "-S",
            paramLabel = "BYTES",
            defaultValue = "" + RpingOptions.DEFAULT_SIZE,
            description =
                    "Size of a ping in bytes, 26 to 65535 (${DEFAULT-VALUE}). A server also accepts shorter ones.")
    private int size;

    @Option(names = "-V", description = "Validate each ping, at either end.")
    private boolean validate;

    @Option(names = "-d", description = "Print each step.")
    private boolean debug;

    @Option(names = "-P", description = "Server: keep serving, many clients at a time, until killed.")
    private boolean persistent;

    RpingCommand() {}

    @Override
    public Integer call() {
        RpingOptions options = options();
        InetSocketAddress at = address == null ? new InetSocketAddress(port) : new InetSocketAddress(address, port);
        if (at.isUnresolved()) {
            throw new UserErrorException("-a " + address + ": no such address or host");
        }
        PrintWriter out = spec.commandLine().getOut();
        try (VerbsDevice device = provider.open(Map.of())) {
            if (client) {
                RpingClient.run(device, options, out, at);
            } else {
                serve(device, options, out, at);
            }
            return ExitCode.OK;
        } catch (RpingException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
    }

    private void serve(VerbsDevice device, RpingOptions options, PrintWriter out, InetSocketAddress at) {
        try (RpingServer listening = new RpingServer(device, options, out, at)) {
            InetSocketAddress local = listening.localAddress();
            out.println("listening on " + AddressText.of(local) + ", " + device.name());
            out.flush();
            if (persistent) {
                listening.serveAll();
            } else {
                listening.serveOne();
            }
        }
    }

    private RpingOptions options() {
        if (server == client) {
            throw new ParameterException(spec.commandLine(), "expected either -s (server) or -c (client)");
        }
        if (client && address == null) {
            throw new ParameterException(spec.commandLine(), "-a: a client needs the server's address");
        }
        if (client && persistent) {
            throw new ParameterException(spec.commandLine(), "-P: only for servers");
        }
        int lowest = client ? 1 : 0;
        if (port < lowest || port > MAX_PORT) {
            throw new ParameterException(
                    spec.commandLine(), "-p " + port + ": expected a port from " + lowest + " to " + MAX_PORT);
        }
        boolean[] verbose = spec.findOption("-v").getValue();
        try {
            return new RpingOptions(size, count, verbose != null && verbose.length > 0, validate, debug);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
