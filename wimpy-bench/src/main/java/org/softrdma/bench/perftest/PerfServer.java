package org.softrdma.bench.perftest;

import java.io.PrintWriter;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.CoreClock;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The side of a test that is measured: serves one client after the other, in the order {@link PerfClient} describes, and
 * tells each what its operations cost. While a peer READs and WRITEs, its thread sleeps, unless it must drive the device.
 * Everything runs on the calling thread.
 */
public final class PerfServer {
    private static final int BACKLOG = 128;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int SINK_SENDS = 16;

    private final VerbsDevice device;
    private final PerfTest test;
    private final ServerCpu.Meter meter;
    private final PrintWriter out;
    private final MemorySource memory;

    /**
     * A server.
     *
     * @param test the test it serves
     * @param cores the cores this process is pinned to, null if it is not
     * @param out where it says what happens
     */
    public PerfServer(VerbsDevice device, PerfTest test, @Nullable CoreClock cores, PrintWriter out) {
        this(device, test, cores, out, new MemorySource.Anonymous());
    }

    /**
     * Makes a server.
     *
     * @param test the test it serves
     * @param cores the cores this process is pinned to, null if it is not
     * @param out where it says what happens
     * @param memory what clients read and write
     */
    public PerfServer(
            VerbsDevice device, PerfTest test, @Nullable CoreClock cores, PrintWriter out, MemorySource memory) {
        this.memory = memory;
        this.device = device;
        this.test = test;
        this.out = out;
        meter = new ServerCpu.Meter(cores);
    }

    /**
     * Serves.
     *
     * @param local where to listen
     * @param again true to go on for ever, false to end with the first client
     */
    public void serve(InetSocketAddress local, boolean again) {
        try (Listener listener = device.listen(local, BACKLOG)) {
            say("listening on " + text(listener.localAddress()) + ", " + device.name() + ", " + test.command()
                    + "; waiting for a client");
            do {
                try (ConnectionRequest request = next(listener)) {
                    Optional<String> refusal = serve(listener, request);
                    if (refusal.isPresent()) {
                        String refused = "refused a client: " + refusal.get();
                        if (!again) {
                            throw new MeasurementException(refused);
                        }
                        say(refused);
                    }
                } catch (MeasurementException | VerbsException e) {
                    if (!again) {
                        throw e;
                    }
                    say("client lost: " + e.getMessage());
                }
            } while (again);
        }
    }

    private static ConnectionRequest next(Listener listener) {
        for (; ; ) {
            Optional<ConnectionRequest> request = listener.next(WAIT_NS);
            if (request.isPresent()) {
                return request.get();
            }
        }
    }

    private static String text(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (address.getAddress() instanceof Inet6Address ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    /** Serves one client to its end; why it was refused, or empty. */
    private Optional<String> serve(Listener listener, ConnectionRequest request) {
        try (PerfEndpoint endpoint = new PerfEndpoint(device, memory)) {
            endpoint.createControl(attributes -> request.createQueuePair(endpoint.domain(), attributes));
            request.accept(ConnectionParameters.DEFAULT);
            InetAddress peer = request.remoteAddress().getAddress();
            say("client " + text(request.remoteAddress()));
            PerfMessage hello = endpoint.receive(PerfMessage.HELLO, Traffic.NONE, PerfEndpoint.TIMEOUT_NS);
            Optional<String> fault = fault(hello);
            if (fault.isPresent()) {
                endpoint.send(PerfMessage.withText(PerfMessage.REFUSED, fault.get()));
                endpoint.flush();
                return fault;
            }
            Traffic traffic = prepare(endpoint, hello, listener, peer);
            boolean events = (hello.value(5) & PerfMessage.FLAG_EVENTS) != 0;
            for (; ; ) {
                PerfMessage message = endpoint.receiveOrEnd(traffic);
                if (message.kind() != PerfMessage.BEGIN) {
                    break;
                }
                measure(endpoint, traffic, message, events);
            }
            return Optional.empty();
        }
    }

    private Optional<String> fault(PerfMessage hello) {
        if (hello.value(0) != test.number()) {
            return Optional.of("this server runs " + test.command() + ", the client asked for "
                    + PerfTest.commandOf(hello.value(0)));
        }
        List<String> faults = new ArrayList<>();
        expect(faults, "-q", hello.value(1), PerfOptions.MAX_QUEUE_PAIRS);
        expect(faults, "-s", hello.value(2), device.capabilities().maxMessageLength());
        expect(faults, "-t", hello.value(3), Short.MAX_VALUE);
        test.feature()
                .filter(needed -> !device.capabilities().has(needed))
                .ifPresent(needed -> faults.add("this server's device has no " + needed + ", which the test needs"));
        return faults.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", faults));
    }

    private static void expect(List<String> faults, String name, long value, long most) {
        if (value < 1 || value > most) {
            faults.add(name + " " + value + ": this server expects a number from 1 to " + most);
        }
    }

    private Traffic prepare(PerfEndpoint endpoint, PerfMessage hello, Listener listener, InetAddress peer) {
        Capabilities capabilities = device.capabilities();
        int queuePairs = (int) hello.value(1);
        int txDepth = (int) hello.value(3);
        boolean bidirectional = (hello.value(5) & PerfMessage.FLAG_BIDIRECTIONAL) != 0;
        int receives = test.opcode().consumesReceive() && !test.isLatency()
                ? Math.min(2 * txDepth, capabilities.maxReceiveWorkRequests())
                : PingPongTraffic.RECEIVES;
        int sends = bidirectional ? txDepth + 1 : test.isLatency() ? PingPongTraffic.SENDS : SINK_SENDS;
        int reads = (int) Math.max(1, Math.min(hello.value(4), capabilities.maxInboundReads()));
        endpoint.prepareData(queuePairs, hello.value(2), sends, receives, 0, test.access(true));
        endpoint.remote(new RemoteRegion(hello.value(6), hello.value(7), Integer.parseInt(hello.text())));
        RemoteRegion own = endpoint.exported();
        endpoint.send(PerfMessage.of(PerfMessage.WELCOME, own.address(), own.length(), own.rkey(), receives));
        for (int i = 0; i < queuePairs; i++) {
            acceptData(endpoint, listener, peer, ConnectionParameters.ofReads(reads));
        }
        if (bidirectional) {
            return new BandwidthTraffic(endpoint, test.opcode(), txDepth, 1, 0, receives);
        }
        return switch (test) {
            case SEND_BANDWIDTH, WRITE_IMMEDIATE_BANDWIDTH -> new SinkTraffic(endpoint, receives);
            case SEND_LATENCY, WRITE_LATENCY -> new PingPongTraffic(endpoint, test.opcode(), 0, true);
            case ECHO -> new EchoTraffic(endpoint, 0);
            case READ_LATENCY, READ_BANDWIDTH, WRITE_BANDWIDTH, ATOMIC_LATENCY, ATOMIC_BANDWIDTH -> Traffic.NONE;
        };
    }

    private static void acceptData(
            PerfEndpoint endpoint, Listener listener, InetAddress peer, ConnectionParameters parameters) {
        for (; ; ) {
            Optional<ConnectionRequest> next = listener.next(PerfEndpoint.TIMEOUT_NS);
            if (next.isEmpty()) {
                throw new MeasurementException("the client did not connect its data queue pairs in time");
            }
            try (ConnectionRequest request = next.get()) {
                if (request.remoteAddress().getAddress().equals(peer)) {
                    endpoint.createData(attributes -> request.createQueuePair(endpoint.domain(), attributes));
                    request.accept(parameters);
                    return;
                }
                // Another client: closing rejects it, one is served at a time.
            }
        }
    }

    private void measure(PerfEndpoint endpoint, Traffic traffic, PerfMessage begin, boolean events) {
        boolean active = !traffic.isDone() || traffic instanceof BandwidthTraffic;
        boolean spin = !events && (device.manualProgress() || traffic.answers() || active);
        traffic.begin(begin.value(0), begin.value(1), begin.value(2));
        meter.start();
        endpoint.send(PerfMessage.of(PerfMessage.READY));
        PerfMessage end = null;
        while (end == null || !traffic.isDone()) {
            traffic.pump();
            if (traffic.polls()) {
                endpoint.look(traffic);
            } else {
                endpoint.turn(traffic, spin, WAIT_NS);
            }
            end = end == null ? endpoint.arrivedMessage() : end;
        }
        ServerCpu cpu = meter.stop(end.value(0) + traffic.operations());
        endpoint.send(PerfMessage.withText(
                PerfMessage.RESULT,
                cpu.classes(),
                cpu.processNs(),
                cpu.coreNs(),
                cpu.wallNs(),
                traffic.operations(),
                traffic.elapsedNs()));
        say(" " + begin.value(0) + " bytes, " + cpu.operations() + " operations;" + cpu.describe());
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }
}
