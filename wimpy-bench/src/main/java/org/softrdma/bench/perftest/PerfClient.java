package org.softrdma.bench.perftest;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The side of a test that measures: connects a control queue pair, says {@link PerfMessage#HELLO} what it wants, connects
 * the data queue pairs, and runs each message size between {@link PerfMessage#BEGIN} and {@link PerfMessage#END}.
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
    private final List<PerfInitiator> others;

    private PerfClient(
            VerbsDevice device,
            PerfOptions options,
            PerfTable table,
            PerfEndpoint endpoint,
            List<PerfInitiator> others) {
        this.device = device;
        this.others = others;
        this.options = options;
        this.table = table;
        this.endpoint = endpoint;
    }

    /**
     * Runs a test and prints its table.
     *
     * @param more opens a device for each further initiator, on a thread that it stays on
     * @param options the test
     * @param table where results go
     * @param server where the server listens
     * @return the rows
     * @throws MeasurementException with one sentence if the test could not be run
     */
    public static List<PerfRow> run(
            VerbsDevice device,
            Supplier<VerbsDevice> more,
            PerfOptions options,
            PerfTable table,
            InetSocketAddress server) {
        options.check(device.capabilities());
        List<PerfInitiator> others = new ArrayList<>();
        try (PerfEndpoint endpoint = new PerfEndpoint(device)) {
            for (int i = 1; i < options.initiators(); i++) {
                others.add(new PerfInitiator(i, more));
            }
            return new PerfClient(device, options, table, endpoint, others).run(server);
        } finally {
            others.forEach(PerfInitiator::close);
        }
    }

    private List<PerfRow> run(InetSocketAddress server) {
        Capabilities capabilities = device.capabilities();
        int reads = options.reads(capabilities);
        ConnectionParameters parameters = ConnectionParameters.ofReads(reads);
        try (Connector connector = device.resolve(server, PerfEndpoint.TIMEOUT_NS)) {
            endpoint.createControl(attributes -> connector.createQueuePair(endpoint.domain(), attributes));
            connector.connect(ConnectionParameters.DEFAULT, PerfEndpoint.TIMEOUT_NS);
        }
        prepare(endpoint);
        endpoint.send(hello(reads));
        PerfMessage welcome = endpoint.receive(PerfMessage.WELCOME, Traffic.NONE, PerfEndpoint.TIMEOUT_NS);
        endpoint.remote(new RemoteRegion(welcome.value(0), welcome.value(1), (int) welcome.value(2)));
        if (!others.isEmpty()) {
            endpoint.oneWord(welcome.value(0));
        }
        connectData(device, endpoint, parameters, server);
        connectOthers(welcome, parameters, server);
        QueuePair first = endpoint.data(0);
        table.header(
                device.name(),
                capabilities.transport(),
                first.connectionCapabilities().wire(),
                first.connectionCapabilities().maxOutboundReads().orElse(1));
        List<PerfRow> rows = options.test().isLatency() ? latency() : bandwidth((int) welcome.value(3));
        table.end();
        endpoint.send(PerfMessage.of(PerfMessage.BYE));
        endpoint.flush();
        return rows;
    }

    private void prepare(PerfEndpoint prepared) {
        prepared.prepareData(
                options.queuePairs(),
                options.largestSize(),
                sendQueue(),
                PingPongTraffic.RECEIVES,
                options.inline(),
                options.test().access(false));
    }

    private void connectData(
            VerbsDevice from, PerfEndpoint connected, ConnectionParameters parameters, InetSocketAddress server) {
        for (int i = 0; i < options.queuePairs(); i++) {
            try (Connector connector = from.resolve(server, PerfEndpoint.TIMEOUT_NS)) {
                connected.createData(attributes -> connector.createQueuePair(connected.domain(), attributes));
                connector.connect(parameters, PerfEndpoint.TIMEOUT_NS);
            }
        }
    }

    /** One after the other: the server gives each queue pair the next part of its memory. */
    private void connectOthers(PerfMessage welcome, ConnectionParameters parameters, InetSocketAddress server) {
        for (int i = 0; i < others.size(); i++) {
            PerfInitiator other = others.get(i);
            int before = (i + 1) * options.queuePairs();
            PerfInitiator.get(other.submit(() -> {
                PerfEndpoint of = other.endpoint();
                prepare(of);
                of.remote(new RemoteRegion(
                        welcome.value(0) + before * of.stride(), welcome.value(1), (int) welcome.value(2)));
                of.oneWord(welcome.value(0));
                connectData(other.device(), of, parameters, server);
                return of;
            }));
        }
    }

    /** The endpoint of an initiator; 0 is this thread's. */
    private PerfEndpoint endpoint(int initiator) {
        return initiator == 0 ? endpoint : others.get(initiator - 1).endpoint();
    }

    /** Runs something on the threads of all initiators at once. */
    private <T> List<T> all(IntFunction<T> action) {
        List<Future<T>> pending = new ArrayList<>();
        for (int i = 0; i < others.size(); i++) {
            int initiator = i + 1;
            pending.add(others.get(i).submit(() -> action.apply(initiator)));
        }
        List<T> results = new ArrayList<>();
        results.add(action.apply(0));
        pending.forEach(each -> results.add(PerfInitiator.get(each)));
        return results;
    }

    private int sendQueue() {
        return options.test().isLatency() ? PingPongTraffic.SENDS : options.txDepth() + 1;
    }

    private PerfMessage hello(int reads) {
        RemoteRegion own = endpoint.exported();
        long flags = (options.events() ? PerfMessage.FLAG_EVENTS : 0)
                | (options.bidirectional() ? PerfMessage.FLAG_BIDIRECTIONAL : 0);
        return PerfMessage.withText(
                PerfMessage.HELLO,
                Integer.toString(own.rkey()),
                options.test().number(),
                (long) options.initiators() * options.queuePairs(),
                options.largestSize(),
                options.txDepth(),
                reads,
                flags,
                own.address(),
                own.length());
    }

    private PerfMessage end(Traffic traffic, long operations) {
        endpoint.send(PerfMessage.of(PerfMessage.END, operations));
        return endpoint.receive(PerfMessage.RESULT, traffic, PerfEndpoint.TIMEOUT_NS);
    }

    private static ServerCpu serverCpu(PerfMessage result, long operations) {
        return new ServerCpu(
                result.value(0), result.value(1), result.value(2), operations + result.value(3), result.text());
    }

    private void begin(Traffic traffic, long size, long iterations, long durationNs) {
        endpoint.send(PerfMessage.of(PerfMessage.BEGIN, size, iterations, durationNs));
        endpoint.receive(PerfMessage.READY, traffic, PerfEndpoint.TIMEOUT_NS);
    }

    // ------------------------------------------------------------------------------------------------------- latency

    private List<PerfRow> latency() {
        List<LatencyLoop> loops = all(index -> new LatencyLoop(endpoint(index), options));
        List<PerfRow> rows = new ArrayList<>();
        Traffic traffic = loops.getFirst().traffic();
        for (long size : options.sizes()) {
            begin(traffic, size, 1, 0);
            long warmUpNs = options.warmUpNs(rows.isEmpty());
            end(traffic, count(all(index -> warmedUp(loops.get(index), size, warmUpNs))));
            begin(traffic, size, options.iterations(), TimeUnit.SECONDS.toNanos(options.seconds()));
            rows.add(options.seconds() > 0 ? timedLatency(loops, size) : countedLatency(loops, size));
            table.row(rows.getLast());
        }
        return rows;
    }

    private static LatencyLoop.Timed warmedUp(LatencyLoop loop, long size, long durationNs) {
        loop.begin(size);
        return loop.timed(durationNs);
    }

    private static long count(List<LatencyLoop.Timed> each) {
        return each.stream().mapToLong(LatencyLoop.Timed::count).sum();
    }

    private PerfRow countedLatency(List<LatencyLoop> loops, long size) {
        long[] timesNs = all(index -> begun(loops.get(index), size).counted()).stream()
                .flatMapToLong(LongStream::of)
                .toArray();
        ServerCpu cpu = serverCpu(end(loops.getFirst().traffic(), timesNs.length), timesNs.length);
        LatencySamples samples = new LatencySamples(timesNs, options.test().isPingPong());
        table.samples(samples);
        return new PerfRow(size, timesNs.length, samples.figures(), cpu);
    }

    private PerfRow timedLatency(List<LatencyLoop> loops, long size) {
        long durationNs = TimeUnit.SECONDS.toNanos(options.seconds());
        List<LatencyLoop.Timed> each =
                all(index -> begun(loops.get(index), size).timed(durationNs));
        long count = count(each);
        ServerCpu cpu = serverCpu(end(loops.getFirst().traffic(), count), count);
        double half = options.test().isPingPong() ? 2 : 1;
        long elapsedNs =
                each.stream().mapToLong(LatencyLoop.Timed::elapsedNs).max().orElse(1);
        double waitedNs = each.stream().mapToLong(LatencyLoop.Timed::elapsedNs).sum();
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("t_avg", waitedNs / NS_PER_US / count / half);
        figures.put("tps", count * half * TimeUnit.SECONDS.toNanos(1) / elapsedNs);
        return new PerfRow(size, count, figures, cpu);
    }

    private static LatencyLoop begun(LatencyLoop loop, long size) {
        loop.begin(size);
        return loop;
    }

    // ----------------------------------------------------------------------------------------------------- bandwidth

    private List<PerfRow> bandwidth(int peerReceives) {
        List<BandwidthTraffic> each = all(index -> new BandwidthTraffic(
                endpoint(index),
                options.opcode(),
                options.txDepth(),
                options.completionModeration(),
                options.inline(),
                peerReceives));
        List<PerfRow> rows = new ArrayList<>();
        for (long size : options.sizes()) {
            long warmUpNs = options.warmUpNs(rows.isEmpty());
            if (warmUpNs > 0) {
                transfer(each, size, warmUpNs);
                end(each.getFirst(), operations(each));
            }
            transfer(each, size, TimeUnit.SECONDS.toNanos(options.seconds()));
            rows.add(bandwidthRow(each, size));
            table.row(rows.getLast());
        }
        return rows;
    }

    private static long operations(List<BandwidthTraffic> each) {
        return each.stream().mapToLong(BandwidthTraffic::operations).sum();
    }

    private void transfer(List<BandwidthTraffic> each, long size, long durationNs) {
        begin(each.getFirst(), size, options.iterations(), durationNs);
        all(index -> {
            BandwidthTraffic traffic = each.get(index);
            traffic.begin(size, options.iterations(), durationNs);
            while (!traffic.isDone()) {
                traffic.pump();
                LatencyLoop.requireProgress(endpoint(index).turn(traffic, !options.events(), PerfEndpoint.TIMEOUT_NS));
            }
            return traffic;
        });
    }

    private PerfRow bandwidthRow(List<BandwidthTraffic> each, long size) {
        long operations = operations(each);
        PerfMessage result = end(each.getFirst(), operations);
        long theirs = result.value(3);
        ServerCpu cpu = serverCpu(result, operations);
        double perSecond = perSecond(theirs, result.value(4));
        double peakPerSecond = 0;
        for (BandwidthTraffic traffic : each) {
            perSecond += perSecond(traffic.operations(), traffic.elapsedNs());
            peakPerSecond += traffic.peakPerSecond();
        }
        double unit = table.gbits() ? BITS_PER_GIGABIT / BITS_PER_BYTE : BYTES_PER_MIB;
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("BW_peak", peakPerSecond * size / unit);
        figures.put("BW_average", perSecond * size / unit);
        figures.put("MsgRate", perSecond / PER_MILLION);
        return new PerfRow(size, operations, figures, cpu);
    }

    private static double perSecond(long operations, long elapsedNs) {
        return operations == 0 ? 0 : (double) operations * TimeUnit.SECONDS.toNanos(1) / elapsedNs;
    }
}
