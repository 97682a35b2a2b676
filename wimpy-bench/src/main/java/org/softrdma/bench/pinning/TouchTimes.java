package org.softrdma.bench.pinning;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.measurement.DeviceFactory;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.RandomKeys;
import org.softrdma.kv.CloseStack;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** How long a READ of 1 KiB takes that finds its granule not pinned, and one that finds it pinned: one at a time, in random order. */
final class TouchTimes {
    static final String PART = "touch";
    private static final int GRANULE = 256 * 1024;
    private static final int READ_BYTES = 1024;
    private static final int WARM_UP = 20_000;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final double NS_PER_MICRO = 1e3;
    private static final double MEDIAN = 50;
    private static final double TAIL = 99;

    /** What is done with a region before its granules are READ. */
    private enum Before {
        NOTHING("never written"),
        WRITTEN("resident"),
        TOUCHED("touched before"),
        PREFETCHED("prefetched");

        private final String label;

        Before(String label) {
            this.label = label;
        }
    }

    private record Case(PinningPolicy policy, Before before) {}

    private static final List<Case> CASES = List.of(
            new Case(PinningPolicy.OFF, Before.NOTHING),
            new Case(PinningPolicy.OFF, Before.TOUCHED),
            new Case(PinningPolicy.LAZY, Before.NOTHING),
            new Case(PinningPolicy.LAZY, Before.WRITTEN),
            new Case(PinningPolicy.LAZY, Before.PREFETCHED),
            new Case(PinningPolicy.LAZY, Before.TOUCHED),
            new Case(PinningPolicy.EAGER, Before.TOUCHED));

    private final DeviceFactory devices;
    private final PinningPlan plan;
    private final Map<String, String> skipped;
    private final RandomKeys random = new RandomKeys();

    TouchTimes(DeviceFactory devices, PinningPlan plan, Map<String, String> skipped) {
        this.devices = devices;
        this.plan = plan;
        this.skipped = skipped;
    }

    List<PinningRow> run() {
        List<PinningRow> rows = CASES.stream()
                .map(each -> new PinningRow(PART, PinningRow.name(each.policy), each.before.label))
                .toList();
        try (Responder responder = new Responder(devices.open(Map.of("progress", "engine")));
                Reader reader = new Reader(devices.open(Map.of("progress", "manual", "pinning", "off")), responder)) {
            try (HostMemory memory = responder.device.allocateMemory(bytes());
                    MemoryRegion region = responder.register(memory, PinningPolicy.OFF)) {
                for (int i = 0; i < WARM_UP; i++) {
                    reader.read(region, place(random.next(plan.touches())));
                }
            }
            for (int round = 0; round < plan.timing().rounds(); round++) {
                for (int i = 0; i < rows.size(); i++) {
                    measure(CASES.get(i), rows.get(i), responder, reader);
                }
            }
        }
        return rows;
    }

    private long bytes() {
        return (long) plan.touches() * GRANULE;
    }

    private static long place(int granule) {
        return (long) granule * GRANULE;
    }

    private void measure(Case each, PinningRow row, Responder responder, Reader reader) {
        try (HostMemory memory = responder.device.allocateMemory(bytes());
                MemoryRegion region = responder.register(memory, each.policy)) {
            int[] order = order();
            switch (each.before) {
                case NOTHING -> {
                    // The READ finds pages that are not there yet.
                }
                case WRITTEN -> memory.segment().fill((byte) 1);
                case PREFETCHED ->
                    responder.domain.advise(Advice.PREFETCH, true, region.address(), region.length(), region.lkey());
                case TOUCHED -> {
                    memory.segment().fill((byte) 1);
                    for (int granule : order) {
                        reader.read(region, place(granule));
                    }
                }
            }
            Histogram latencies = Latencies.histogram();
            for (int granule : order) {
                latencies.recordValue(Math.min(reader.read(region, place(granule)), Latencies.HIGHEST_NS));
            }
            row.values().add(PinningRow.P50, latencies.getValueAtPercentile(MEDIAN) / NS_PER_MICRO);
            row.values().add(PinningRow.P99, latencies.getValueAtPercentile(TAIL) / NS_PER_MICRO);
        } catch (VerbsException e) {
            skipped.put(row.system() + ", " + row.at(), String.valueOf(e.getMessage()));
        }
    }

    /** All granules in random order. */
    private int[] order() {
        int[] order = new int[plan.touches()];
        for (int i = 0; i < order.length; i++) {
            int j = random.next(i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        return order;
    }

    /** The side whose memory is READ; its engine serves by itself. */
    private static final class Responder implements AutoCloseable {
        private final VerbsDevice device;
        private final ProtectionDomain domain;
        private final Listener listener;

        Responder(VerbsDevice device) {
            this.device = device;
            domain = device.allocateProtectionDomain();
            listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
        }

        MemoryRegion register(HostMemory memory, PinningPolicy policy) {
            return domain.register(memory.segment(), Set.of(AccessFlag.REMOTE_READ), policy);
        }

        @Override
        public void close() {
            listener.close();
            domain.close();
            device.close();
        }
    }

    /** The side that READs, driven by the thread of the study. */
    private static final class Reader implements AutoCloseable {
        private final CloseStack owned = new CloseStack();
        private final CompletionQueue queue;
        private final MemoryRegion sink;
        private final QueuePair pair;
        private final WorkCompletion[] completion = WorkCompletion.array(1);

        Reader(VerbsDevice device, Responder responder) {
            owned.add(device);
            ProtectionDomain domain = owned.add(device.allocateProtectionDomain());
            queue = owned.add(device.createCompletionQueue(1));
            HostMemory memory = owned.add(device.allocateMemory(READ_BYTES));
            sink = owned.add(domain.register(memory.segment(), Set.of(AccessFlag.READ_SINK)));
            CompletionQueue unused = owned.add(responder.device.createCompletionQueue(1));
            Connector connector = owned.add(device.resolve(responder.listener.localAddress(), TIMEOUT_NS));
            QueuePairLimits limits = QueuePairLimits.of(1, 1);
            pair = owned.add(connector.createQueuePair(domain, QueuePairAttributes.of(queue, limits)));
            CompletableFuture<QueuePair> accepted =
                    CompletableFuture.supplyAsync(() -> accept(responder, QueuePairAttributes.of(unused, limits)));
            connector.connect(ConnectionParameters.DEFAULT, TIMEOUT_NS);
            while (!accepted.isDone()) {
                int ignored = queue.poll(completion, 1); // sends what the other side waits for
            }
            owned.add(accepted.join());
        }

        private static QueuePair accept(Responder responder, QueuePairAttributes attributes) {
            try (ConnectionRequest request = responder
                    .listener
                    .next(TIMEOUT_NS)
                    .orElseThrow(() ->
                            new MeasurementException("no connection request arrived over the loopback interface"))) {
                QueuePair made = request.createQueuePair(responder.domain, attributes);
                request.accept(ConnectionParameters.DEFAULT);
                return made;
            }
        }

        /** READs and waits; how long that took, in nanoseconds. */
        long read(MemoryRegion source, long offset) {
            long startNs = System.nanoTime();
            PostStatus posted = pair.postRead(
                    1, sink, 0, READ_BYTES, source.address() + offset, source.rkey(), SendFlags.SIGNALLED);
            while (queue.poll(completion, 1) == 0) {
                Thread.onSpinWait();
            }
            long elapsedNs = System.nanoTime() - startNs;
            if (posted != PostStatus.ACCEPTED || !completion[0].isSuccess()) {
                throw new MeasurementException("a READ was " + posted + " and ended as " + completion[0].status());
            }
            return elapsedNs;
        }

        @Override
        public void close() {
            owned.close();
        }
    }
}
