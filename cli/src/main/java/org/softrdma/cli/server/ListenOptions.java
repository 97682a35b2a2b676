package org.softrdma.cli.server;

import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.session.ClientRules;
import picocli.CommandLine.Option;

/** Where {@code softrdma server} listens, and how many connections it serves with how many threads. */
final class ListenOptions {
    private static final int MAX_PORT = 65535;

    /** memcached's word for any free port. */
    private static final int ANY_PORT = -1;

    private static final int MAX_THREADS = 1024;
    private static final int MAX_MODE = 0777;
    private static final int OCTAL = 8;
    private static final Map<String, ClientRules.Protocol> PROTOCOLS = Map.of(
            "auto", ClientRules.Protocol.AUTO,
            "auto-negotiate", ClientRules.Protocol.AUTO,
            "ascii", ClientRules.Protocol.ASCII,
            "binary", ClientRules.Protocol.BINARY);

    @Option(
            names = {"-p", "--port"},
            paramLabel = "N",
            defaultValue = "11211",
            description = "TCP port for the memcached protocol; 0 and -1 pick a free one (${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "ADDRESS",
            description =
                    "Address that the TCP port and the RDMA port listen on (all addresses; with"
                            + " -s, 127.0.0.1 for the RDMA port). May be a list, separated by commas, of HOST, HOST:PORT or"
                            + " [IPV6]:PORT, with notls: before those that -Z does not encrypt; the RDMA port listens on"
                            + " each, with one number. A name means all of its addresses; 0.0.0.0 means all of IPv4, :: all of IPv6.")
    private List<String> addresses = List.of();

    @Option(
            names = "--rdma-port",
            paramLabel = "N",
            defaultValue = "0",
            description = "Port for RDMA connections, on the address of -l; the server tells clients its number"
                    + " (${DEFAULT-VALUE}: any free one).")
    private int rdmaPort;

    @Option(
            names = {"-s", "--unix-socket"},
            paramLabel = "FILE",
            description = "Unix socket for the memcached protocol, instead of the TCP port. The RDMA port then"
                    + " listens on 127.0.0.1, unless -l names another address.")
    private @Nullable Path unixSocket;

    @Option(
            names = {"-a", "--unix-mask"},
            paramLabel = "MASK",
            defaultValue = "0700",
            description = "Access mode of the Unix socket, in octal (${DEFAULT-VALUE}).")
    private String unixMask = "";

    @Option(
            names = {"-c", "--conn-limit"},
            paramLabel = "N",
            defaultValue = "1024",
            description = "Maximum number of connections, and of queue pairs (${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = {"-b", "--listen-backlog"},
            paramLabel = "N",
            defaultValue = "1024",
            description = "Maximum number of connections waiting to be accepted (${DEFAULT-VALUE}).")
    private int backlog;

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "4",
            description = "Threads that serve the memcached port (${DEFAULT-VALUE}).")
    private int threads;

    @Option(
            names = "--io",
            paramLabel = "auto|uring|epoll|nio",
            defaultValue = "auto",
            description = "How the memcached port does its I/O (${DEFAULT-VALUE}: io_uring, else epoll, else NIO)."
                    + " The RDMA port: --device transport=...")
    private PortSettings.Io io = PortSettings.Io.AUTO;

    @Option(
            names = {"-R", "--max-reqs-per-event"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Maximum number of requests to serve from one connection before serving the next"
                    + " (${DEFAULT-VALUE}: all that one read from the network returned).")
    private int requestsPerEvent;

    @Option(
            names = {"-U", "--udp-port"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Must be 0: UDP is not supported.")
    private int udpPort;

    @Option(
            names = {"-B", "--protocol"},
            paramLabel = "NAME",
            defaultValue = "auto",
            description = "Protocols that clients may speak: ascii, binary, or auto, where the first byte of a"
                    + " connection decides (${DEFAULT-VALUE}; with -Y, but without -S, ascii).")
    private String protocol = "";

    ListenOptions() {}

    /** True if {@code -l} was given. */
    boolean hasAddress() {
        return !addresses.isEmpty();
    }

    /** What {@code -l} says. */
    String addresses() {
        return String.join(",", addresses);
    }

    /** The port of {@code --rdma-port}. */
    int rdmaPort() {
        return rdmaPort;
    }

    /** Makes room for the descriptors that it may need, or says that there is none. */
    Optional<String> descriptorWarning() {
        return OpenFiles.makeRoom(connections, threads);
    }

    /** The file of {@code -s}; null unless given. */
    @Nullable
    Path unixSocket() {
        return unixSocket;
    }

    void check(OptionFaults faults) {
        faults.check(port >= ANY_PORT && port <= MAX_PORT, "-p " + port, ANY_PORT + " to " + MAX_PORT);
        faults.check(rdmaPort >= 0 && rdmaPort <= MAX_PORT, "--rdma-port " + rdmaPort, "0 to " + MAX_PORT);
        faults.check(udpPort == 0, "-U " + udpPort, "0 (UDP is not supported)");
        faults.check(threads >= 1 && threads <= MAX_THREADS, "-t " + threads, "1 to " + MAX_THREADS);
        faults.check(connections >= 1, "-c " + connections, "at least 1");
        faults.check(requestsPerEvent >= 0, "-R " + requestsPerEvent, "at least 0");
        faults.check(backlog >= 1 && backlog <= MAX_PORT, "-b " + backlog, "1 to " + MAX_PORT);
        faults.check(
                unixMask.matches("[0-7]{1,4}") && Integer.parseInt(unixMask, OCTAL) <= MAX_MODE,
                "-a " + unixMask,
                "0 to 0777");
        faults.check(PROTOCOLS.containsKey(protocol), "-B " + protocol, "auto, ascii or binary");
    }

    /**
     * Sets what the options say.
     *
     * @param context takes it
     * @throws UnknownHostException if {@code -l} is no address
     */
    void apply(KvServerContext context) throws UnknownHostException {
        context.protocol(PROTOCOLS.getOrDefault(protocol, ClientRules.Protocol.AUTO))
                .rdmaPort(rdmaPort)
                .threads(threads)
                .io(io)
                .maxConnections(connections)
                .backlog(backlog)
                .requestsPerTurn(requestsPerEvent);
        if (hasAddress() || unixSocket == null) {
            ListenAddresses.Listening where = ListenAddresses.of(addresses, Math.max(0, port));
            context.memcachedAddresses(where.addresses()).clearAddresses(where.clear());
        }
        if (unixSocket != null) {
            context.unixSocket(unixSocket, Integer.parseInt(unixMask, OCTAL));
        }
    }
}
