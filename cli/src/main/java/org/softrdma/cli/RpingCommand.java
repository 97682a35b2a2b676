package org.softrdma.cli;

import java.io.PrintWriter;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.rping.RpingClient;
import org.softrdma.bench.rping.RpingException;
import org.softrdma.bench.rping.RpingOptions;
import org.softrdma.bench.rping.RpingServer;
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
            "Ping a peer by RDMA, as rping of rdmacm-utils does: either end may be the original.",
            "The client advertises a buffer, the server READs it and WRITEs it back. As rping's, -v here also prints"
                    + " each ping."
        },
        footer = {
            "",
            "A server ends with its first client, unless -P. It succeeds when the client disconnects",
            "between two pings; the client succeeds when all its pings came back.",
            "",
            "Examples:",
            "  softrdma rping -s -a 0.0.0.0 -v",
            "  softrdma rping -c -a 192.0.2.7 -C 10 -S 65535 -v -V"
        })
final class RpingCommand implements Callable<Integer> {
    private static final int MAX_PORT = 65_535;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(names = "-s", description = "Be the server.")
    private boolean server;

    @Option(names = "-c", description = "Be the client.")
    private boolean client;

    @Option(
            names = "-a",
            paramLabel = "ADDRESS",
            description = "Client: the server. Server: the address to listen on, all unless given.")
    private @Nullable String address;

    @Option(
            names = "-p",
            paramLabel = "PORT",
            defaultValue = "" + RpingOptions.DEFAULT_PORT,
            description = "Port of the server (${DEFAULT-VALUE}); a server picks a free one for 0.")
    private int port;

    @Option(
            names = "-C",
            paramLabel = "COUNT",
            defaultValue = "0",
            description = "Client: how many pings; without end unless given.")
    private int count;

    @Option(
            names = "-S",
            paramLabel = "BYTES",
            defaultValue = "" + RpingOptions.DEFAULT_SIZE,
            description = "Bytes of a ping, 26 to 65535 (${DEFAULT-VALUE}); a server takes shorter ones too.")
    private int size;

    @Option(names = "-V", description = "Validate each ping; a server does too.")
    private boolean validate;

    @Option(names = "-d", description = "Print each step.")
    private boolean debug;

    @Option(names = "-P", description = "Server: serve one client after the other and many at a time, until killed.")
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
            return Main.EXIT_OK;
        } catch (RpingException | VerbsException e) {
            return PerfSupport.failed(spec, e);
        }
    }

    private void serve(VerbsDevice device, RpingOptions options, PrintWriter out, InetSocketAddress at) {
        try (RpingServer listening = new RpingServer(device, options, out, at)) {
            InetSocketAddress local = listening.localAddress();
            String host = local.getAddress().getHostAddress();
            out.println("listening on " + (local.getAddress() instanceof Inet6Address ? "[" + host + "]" : host) + ":"
                    + local.getPort() + ", " + device.name());
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
            throw new ParameterException(spec.commandLine(), "expected one of -s (server) and -c (client)");
        }
        if (client && address == null) {
            throw new ParameterException(spec.commandLine(), "-a: a client needs the server's address");
        }
        if (client && persistent) {
            throw new ParameterException(spec.commandLine(), "-P: only a server is persistent, leave it out");
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
