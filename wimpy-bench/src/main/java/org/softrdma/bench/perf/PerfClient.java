package org.softrdma.bench.perf;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The side of a test that measures: connects a control queue pair, says {@link ControlMessage#HELLO} what it wants, connects
 * the data queue pairs, and runs each message size between {@link ControlMessage#BEGIN} and {@link ControlMessage#END}.
 * Everything runs on the calling thread.
 */
public final class PerfClient {
    private static final double BYTES_PER_MIB = 1 << 20;
    private static final double BITS_PER_GIGABIT = 1e9;
    private static final int BITS_PER_BYTE = 8;
    private static final double PER_MILLION = 1e6;
    private static final double NS_PER_US = 1e3;

    private final VerbsDevice device;
    private final PerfOptions options;
    private final PerfTable table;
    private final PerfEndpoint endpoint;

    private PerfClient(VerbsDevice device, PerfOptions options, PerfTable table, PerfEndpoint endpoint) {
        this.device = device;
        this.options = options;
        this.table = table;
        this.endpoint = endpoint;
    }

    /**
     * Runs a test and prints its table.
     *
     * @param device the device
     * @param options the test
     * @param table where results go
     * @param server where the server listens
     * @return the rows
     * @throws PerfException with one sentence if the test could not be run
     */
    public static List<PerfRow> run(
            VerbsDevice device, PerfOptions options, PerfTable table, InetSocketAddress server) {
        try (PerfEndpoint endpoint = new PerfEndpoint(device)) {
            return new PerfClient(device, options, table, endpoint).run(server);
        }
    }

    private List<PerfRow> run(InetSocketAddress server) {
        Capabilities capabilities = device.capabilities();
        options.check(capabilities);
        int reads = options.reads(capabilities);
        ConnectionParameters parameters = ConnectionParameters.ofReads(reads);
        try (Connector connector = device.resolve(server, PerfEndpoint.TIMEOUT_NS)) {
            endpoint.createControl(attributes -> connector.createQueuePair(endpoint.domain(), attributes));
            connector.connect(ConnectionParameters.DEFAULT, PerfEndpoint.TIMEOUT_NS);
        }
        endpoint.prepareData(
                options.queuePairs(), options.largestSize(), sendQueue(), PingPongTraffic.RECEIVES, options.inline());
        endpoint.send(hello(reads));
        ControlMessage welcome = endpoint.receive(ControlMessage.WELCOME, Traffic.NONE, PerfEndpoint.TIMEOUT_NS);
        endpoint.remote(new RemoteRegion(welcome.value(0), welcome.value(1), (int) welcome.value(2)));
        for (int i = 0; i < options.queuePairs(); i++) {
            try (Connector connector = device.resolve(server, PerfEndpoint.TIMEOUT_NS)) {
                endpoint.createData(attributes -> connector.createQueuePair(endpoint.domain(), attributes));
                connector.connect(parameters, PerfEndpoint.TIMEOUT_NS);
            }
        }
        QueuePair first = endpoint.data(0);
        table.header(
                device.name(),
                capabilities.transport(),
                first.connectionCapabilities().wire(),
                first.connectionCapabilities().maxOutboundReads().orElse(1));
        List<PerfRow> rows = options.test().isLatency() ? latency() : bandwidth((int) welcome.value(3));
        table.end();
        endpoint.send(ControlMessage.of(ControlMessage.BYE));
        endpoint.flush();
        return rows;
    }

    private int sendQueue() {
        return options.test().isLatency() ? PingPongTraffic.SENDS : options.txDepth() + 1;
    }

    private ControlMessage hello(int reads) {
        RemoteRegion own = endpoint.exported();
        long flags = (options.events() ? ControlMessage.FLAG_EVENTS : 0)
                | (options.bidirectional() ? ControlMessage.FLAG_BIDIRECTIONAL : 0);
        return ControlMessage.withText(
                ControlMessage.HELLO,
                Integer.toString(own.rkey()),
                options.test().number(),
                options.queuePairs(),
                options.largestSize(),
                options.txDepth(),
                reads,
                flags,
                own.address(),
                own.length());
    }

    private ControlMessage end(Traffic traffic, long operations) {
        endpoint.send(ControlMessage.of(ControlMessage.END, operations));
        return endpoint.receive(ControlMessage.RESULT, traffic, PerfEndpoint.TIMEOUT_NS);
    }

    private static ServerCpu serverCpu(ControlMessage result, long operations) {
        return new ServerCpu(
                result.value(0), result.value(1), result.value(2), operations + result.value(3), result.text());
    }

    private void begin(Traffic traffic, long size, long iterations, long durationNs) {
        endpoint.send(ControlMessage.of(ControlMessage.BEGIN, size, iterations, durationNs));
        endpoint.receive(ControlMessage.READY, traffic, PerfEndpoint.TIMEOUT_NS);
    }

    // ------------------------------------------------------------------------------------------------------- latency

    private List<PerfRow> latency() {
        PingPongTraffic pingPong = new PingPongTraffic(endpoint, options.test().opcode(), options.inline(), false);
        ReadTraffic readTraffic = new ReadTraffic();
        boolean read = options.test().opcode() == SendOpcode.READ;
        List<PerfRow> rows = new ArrayList<>();
        for (long size : options.sizes()) {
            pingPong.begin(size, 0, 0);
            RoundTrip roundTrip = read ? () -> readOnce(readTraffic, size) : () -> pingPongOnce(pingPong);
            begin(Traffic.NONE, size, 1, 0);
            end(Traffic.NONE, timed(roundTrip, options.warmUpNs(rows.isEmpty())).count());
            begin(Traffic.NONE, size, options.iterations(), TimeUnit.SECONDS.toNanos(options.seconds()));
            rows.add(options.seconds() > 0 ? timedLatency(roundTrip, size) : countedLatency(roundTrip, size));
            table.row(rows.getLast());
        }
        return rows;
    }

    private PerfRow countedLatency(RoundTrip roundTrip, long size) {
        long[] timesNs = new long[(int) options.iterations()];
        long beforeNs = System.nanoTime();
        for (int i = 0; i < timesNs.length; i++) {
            roundTrip.run();
            long nowNs = System.nanoTime();
            timesNs[i] = nowNs - beforeNs;
            beforeNs = nowNs;
        }
        ServerCpu cpu = serverCpu(end(Traffic.NONE, timesNs.length), timesNs.length);
        LatencySamples samples = new LatencySamples(timesNs, options.test().isPingPong());
        table.samples(samples);
        return new PerfRow(size, timesNs.length, samples.figures(), cpu);
    }

    private PerfRow timedLatency(RoundTrip roundTrip, long size) {
        Timed timed = timed(roundTrip, TimeUnit.SECONDS.toNanos(options.seconds()));
        ServerCpu cpu = serverCpu(end(Traffic.NONE, timed.count()), timed.count());
        double half = options.test().isPingPong() ? 2 : 1;
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("t_avg", timed.elapsedNs() / NS_PER_US / timed.count() / half);
        figures.put("tps", timed.count() * half * TimeUnit.SECONDS.toNanos(1) / timed.elapsedNs());
        return new PerfRow(size, timed.count(), figures, cpu);
    }

    private static Timed timed(RoundTrip roundTrip, long durationNs) {
        long startNs = System.nanoTime();
        long count = 0;
        long elapsedNs;
        do {
            roundTrip.run();
            count++;
            elapsedNs = System.nanoTime() - startNs;
        } while (elapsedNs < durationNs);
        return new Timed(count, elapsedNs);
    }

    private record Timed(long count, long elapsedNs) {}

    private void readOnce(ReadTraffic traffic, long size) {
        traffic.done = false;
        PerfEndpoint.require(
                endpoint.data(0)
                        .postRead(
                                PerfEndpoint.wrId(PerfEndpoint.DATA, 0, 1),
                                endpoint.region(),
                                0,
                                size,
                                endpoint.remoteAddress(0),
                                endpoint.remoteKey(),
                                SendFlags.SIGNALLED),
                "READ");
        while (!traffic.done) {
            requireProgress(endpoint.turn(traffic, !options.events(), PerfEndpoint.TIMEOUT_NS));
        }
    }

    private void pingPongOnce(PingPongTraffic traffic) {
        long before = traffic.received();
        traffic.serve();
        while (traffic.received() == before) {
            requireProgress(endpoint.turn(traffic, !options.events(), PerfEndpoint.TIMEOUT_NS));
        }
    }

    private static void requireProgress(int completions) {
        if (completions == 0) {
            throw new PerfException("nothing completed for " + TimeUnit.NANOSECONDS.toSeconds(PerfEndpoint.TIMEOUT_NS)
                    + " s: is the server alive?");
        }
    }

    @FunctionalInterface
    private interface RoundTrip {
        void run();
    }

    private static final class ReadTraffic implements Traffic {
        private boolean done;

        @Override
        public void completed(int kind, int queuePair, int count) {
            done = true;
        }
    }

    // ----------------------------------------------------------------------------------------------------- bandwidth

    private List<PerfRow> bandwidth(int peerReceives) {
        BandwidthTraffic traffic = new BandwidthTraffic(
                endpoint,
                options.test().opcode(),
                options.txDepth(),
                options.completionModeration(),
                options.inline(),
                peerReceives);
        List<PerfRow> rows = new ArrayList<>();
        for (long size : options.sizes()) {
            long warmUpNs = options.warmUpNs(rows.isEmpty());
            if (warmUpNs > 0) {
                transfer(traffic, size, options.iterations(), warmUpNs);
                end(traffic, traffic.operations());
            }
            transfer(traffic, size, options.iterations(), TimeUnit.SECONDS.toNanos(options.seconds()));
            rows.add(bandwidthRow(traffic, size));
            table.row(rows.getLast());
        }
        return rows;
    }

    private void transfer(BandwidthTraffic traffic, long size, long iterations, long durationNs) {
        begin(traffic, size, iterations, durationNs);
        traffic.begin(size, iterations, durationNs);
        while (!traffic.isDone()) {
            traffic.pump();
            requireProgress(endpoint.turn(traffic, !options.events(), PerfEndpoint.TIMEOUT_NS));
        }
    }

    private PerfRow bandwidthRow(BandwidthTraffic traffic, long size) {
        long operations = traffic.operations();
        ControlMessage result = end(traffic, operations);
        long theirs = result.value(3);
        ServerCpu cpu = serverCpu(result, operations);
        double perSecond = perSecond(operations, traffic.elapsedNs()) + perSecond(theirs, result.value(4));
        double unit = table.gbits() ? BITS_PER_GIGABIT / BITS_PER_BYTE : BYTES_PER_MIB;
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("BW_peak", traffic.peakPerSecond() * size / unit);
        figures.put("BW_average", perSecond * size / unit);
        figures.put("MsgRate", perSecond / PER_MILLION);
        return new PerfRow(size, operations, figures, cpu);
    }

    private static double perSecond(long operations, long elapsedNs) {
        return operations == 0 ? 0 : (double) operations * TimeUnit.SECONDS.toNanos(1) / elapsedNs;
    }
}
