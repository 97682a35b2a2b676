package org.softrdma.cli.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.KvServerContext;
import picocli.CommandLine.Option;

/** Where {@code softrdma server} listens, and how many connections it serves with how many threads. */
final class ListenOptions {
    private static final int MAX_PORT = 65535;
    private static final int MAX_THREADS = 1024;
    private static final int MAX_MODE = 0777;
    private static final int OCTAL = 8;
    private static final String ALL_ADDRESSES = "0.0.0.0";

    @Option(
            names = {"-p", "--port"},
            paramLabel = "N",
            defaultValue = "11211",
            description = "TCP port of the memcached protocol, 0 for any free one (${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "ADDRESS",
            description =
                    "Address to listen on, of the TCP port and of the RDMA port (0.0.0.0, all; with -s 127.0.0.1, for the RDMA"
                            + " port).")
    private @Nullable String address;

    @Option(
            names = "--rdma-port",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Port where queue pairs are connected, on the address of -l; clients are told (${DEFAULT-VALUE}: any"
                            + " free one).")
    private int rdmaPort;

    @Option(
            names = {"-s", "--unix-socket"},
            paramLabel = "FILE",
            description =
                    "Unix socket of the memcached protocol, instead of the TCP port. The RDMA port is on 127.0.0.1 then,"
                            + " unless -l says otherwise.")
    private @Nullable Path unixSocket;

    @Option(
            names = {"-a", "--unix-mask"},
            paramLabel = "MASK",
            defaultValue = "0700",
            description = "Rights of the Unix socket, in octal digits (${DEFAULT-VALUE}).")
    private String unixMask = "";

    @Option(
            names = {"-c", "--conn-limit"},
            paramLabel = "N",
            defaultValue = "1024",
            description = "Most connections, and most queue pairs (${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = {"-b", "--listen-backlog"},
            paramLabel = "N",
            defaultValue = "1024",
            description = "Connections that may wait to be accepted (${DEFAULT-VALUE}).")
    private int backlog;

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "4",
            description = "Threads of the memcached port (${DEFAULT-VALUE}).")
    private int threads;

    @Option(
            names = {"-R", "--max-reqs-per-event"},
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Requests of a connection before others have their turn (${DEFAULT-VALUE}: all that one read from"
                            + " the network brought).")
    private int requestsPerEvent;

    @Option(
            names = {"-U", "--udp-port"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Only 0: UDP is not offered.")
    private int udpPort;

    @Option(
            names = {"-B", "--protocol"},
            paramLabel = "NAME",
            defaultValue = "auto",
            description = "ascii or auto: the binary protocol is not offered.")
    private String protocol = "";

    ListenOptions() {}

    /** The address of {@code -l}; null unless given. */
    @Nullable
    String address() {
        return address;
    }

    /** The file of {@code -s}; null unless given. */
    @Nullable
    Path unixSocket() {
        return unixSocket;
    }

    void check(OptionFaults faults) {
        faults.check(port >= 0 && port <= MAX_PORT, "-p " + port, "0 to " + MAX_PORT);
        faults.check(rdmaPort >= 0 && rdmaPort <= MAX_PORT, "--rdma-port " + rdmaPort, "0 to " + MAX_PORT);
        faults.check(udpPort == 0, "-U " + udpPort, "0, UDP is not offered");
        faults.check(threads >= 1 && threads <= MAX_THREADS, "-t " + threads, "1 to " + MAX_THREADS);
        faults.check(connections >= 1, "-c " + connections, "at least 1");
        faults.check(requestsPerEvent >= 0, "-R " + requestsPerEvent, "at least 0");
        faults.check(backlog >= 1 && backlog <= MAX_PORT, "-b " + backlog, "1 to " + MAX_PORT);
        faults.check(
                unixMask.matches("[0-7]{1,4}") && Integer.parseInt(unixMask, OCTAL) <= MAX_MODE,
                "-a " + unixMask,
                "0 to 0777");
        faults.check(
                protocol.equals("auto") || protocol.equals("ascii") || protocol.equals("auto-negotiate"),
                "-B " + protocol,
                "ascii or auto");
    }

    /**
     * Sets what the options say.
     *
     * @param context takes it
     * @throws UnknownHostException if {@code -l} is no address
     */
    void apply(KvServerContext context) throws UnknownHostException {
        context.rdmaPort(rdmaPort)
                .threads(threads)
                .maxConnections(connections)
                .backlog(backlog)
                .requestsPerTurn(requestsPerEvent);
        if (address != null || unixSocket == null) {
            context.memcachedAddress(
                    new InetSocketAddress(InetAddress.getByName(address == null ? ALL_ADDRESSES : address), port));
        }
        if (unixSocket != null) {
            context.unixSocket(unixSocket, Integer.parseInt(unixMask, OCTAL));
        }
    }
}
