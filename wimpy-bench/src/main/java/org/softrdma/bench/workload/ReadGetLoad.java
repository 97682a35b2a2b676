package org.softrdma.bench.workload;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.measurement.DeviceFactory;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.ReadHandler;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.client.RemoteItem;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.client.StartStatus;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * GETs by READ through {@link KvClient}s with their defaults, touch reports included; a server that cannot do that is an
 * error, never a measurement of something else. Every value is checked by its CRCs too.
 */
public final class ReadGetLoad implements GetLoad, ReadHandler {
    private static final int HEADROOM = 1024;
    /** An item with registration by chunk is read with the whole of its chunk, which is less than twice as long. */
    private static final int CHUNK_FACTOR = 2;

    private static final long STALL_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int EMPTY_POLLS_PER_CLOCK = 64;
    private static final int KEY_BITS = 32;
    /** So sparse that no place is forgotten. */
    private static final int LOCATORS_PER_KEY = 4;

    private static final long MOST_LOCATORS = 1 << 25;

    private final VerbsDevice device;
    private final CompletionLoop loop;
    private final List<KvClient> clients = new ArrayList<>();
    private final Histogram latencies = Latencies.histogram();
    private final int maxWindow;
    private final long[] sentNs;
    private final int[] freeTags;
    private int freeTagCount;
    private int nextToFill;
    /** What is to be started. */
    private final byte[][] dueKeys;

    private final long[] dueTags;
    private @Nullable VerbsDevice ownDevice;
    private MixPairs keys = MixPairs.keyedByLength(1, 0);
    private IntUnaryOperator choice = new RandomKeys()::next;
    private long nowNs;
    private long gets;
    private long errors;
    /** How often, by what was wrong. */
    private final Map<String, Integer> faults = new TreeMap<>();

    /**
     * What the connections must hold.
     *
     * @param connections how many there are
     * @param maxWindow the largest window
     * @param maxValueLength the longest value
     * @param maxKeys how many keys there may be in all
     */
    public record Limits(int connections, int maxWindow, int maxValueLength, int maxKeys) {}

    /**
     * Connects.
     *
     * @param device stays open until after this is closed; this thread drives it
     * @param server memcached port of the server
     * @param limits of windows, values and keys
     */
    public ReadGetLoad(VerbsDevice device, InetSocketAddress server, Limits limits) {
        this.device = device;
        int connections = limits.connections();
        maxWindow = limits.maxWindow();
        sentNs = new long[connections * maxWindow];
        freeTags = new int[sentNs.length];
        dueKeys = new byte[maxWindow][];
        dueTags = new long[maxWindow];
        loop = new CompletionLoop(device, connections, maxWindow);
        try {
            for (int i = 0; i < connections; i++) {
                clients.add(new KvClient(
                        loop,
                        new KvClientContext(server)
                                .protocol(KvProtocol.RDMA)
                                .window(maxWindow)
                                .maxItemLength(CHUNK_FACTOR * (limits.maxValueLength() + HEADROOM))
                                .locatorCapacity(
                                        (int) Math.min(MOST_LOCATORS, (long) LOCATORS_PER_KEY * limits.maxKeys()))
                                .conclude()));
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Connects with a device of its own.
     *
     * @param devices opens the device, which is closed with this
     * @param server memcached port of the server
     * @param limits of windows, values and keys
     */
    public static ReadGetLoad connect(DeviceFactory devices, InetSocketAddress server, Limits limits) {
        VerbsDevice device = devices.open(Map.of("progress", "manual"));
        try {
            ReadGetLoad load = new ReadGetLoad(device, server, limits);
            load.ownDevice = device;
            return load;
        } catch (RuntimeException e) {
            device.close();
            throw e;
        }
    }

    /** Stores all pairs, by the first client. */
    public void insert(MixPairs pairs) {
        for (int i = 0; i < pairs.size(); i++) {
            SetStatus status = clients.get(0).set(pairs.key(i), 0, 0, pairs.value(i));
            if (status != SetStatus.STORED) {
                throw new MeasurementException(
                        "the server did not store a value of " + pairs.valueLength() + " bytes: " + status);
            }
        }
    }

    /** Gets each pair once with each client, which makes them know where it is, and compares all of it. */
    public void learn(MixPairs pairs) {
        for (KvClient client : clients) {
            for (int i = 0; i < pairs.size(); i++) {
                byte[] key = pairs.key(i);
                Optional<KvItem> item = client.get(key);
                if (item.isEmpty()) {
                    throw new MeasurementException("the server has lost pair " + i + " of " + pairs.valueLength()
                            + " bytes: start it with a larger -m, so that all pairs fit");
                }
                if (!Arrays.equals(item.get().value(), pairs.value(i))) {
                    throw new MeasurementException("the server returned a wrong value for pair " + i + " of "
                            + pairs.valueLength() + " bytes");
                }
            }
        }
    }

    /** READs that were done by the thread of the load, in memory of a server on this host. */
    public long sameHostReads() {
        return device.counters().getOrDefault("sameHostReads", 0L);
    }

    /** Sets which pair is got next, given how many there are; all are equally likely unless set. */
    public void choose(IntUnaryOperator newChoice) {
        choice = newChoice;
    }

    @Override
    public LoadOutcome run(MixPairs pairs, int window, Arrivals arrivals) {
        if (window > maxWindow) {
            throw new IllegalArgumentException("window=" + window + " > maxWindow=" + maxWindow);
        }
        keys = pairs;
        latencies.reset();
        gets = 0;
        errors = 0;
        faults.clear();
        freeTagCount = 0;
        for (int tag = sentNs.length - 1; tag >= 0; tag--) {
            freeTags[freeTagCount++] = tag;
        }
        long startNs = System.nanoTime();
        nowNs = startNs;
        arrivals.start(startNs);
        fillAll(window, arrivals);
        while (!arrivals.isOver(nowNs)) {
            turn();
            for (KvClient client : clients) {
                if (client.deliver(this) > 0) {
                    fill(client, window, arrivals);
                }
            }
            fillAll(window, arrivals);
        }
        drain();
        return new LoadOutcome(gets, errors, faults(), System.nanoTime() - startNs, latencies);
    }

    /** Starts what is due where nothing was delivered: at the start, and at a given rate. Clients take turns. */
    private void fillAll(int window, Arrivals arrivals) {
        for (int i = 0; i < clients.size() && arrivals.isDue(nowNs); i++) {
            fill(clients.get(nextToFill), window, arrivals);
            nextToFill = (nextToFill + 1) % clients.size();
        }
    }

    private void drain() {
        long deadlineNs = System.nanoTime() + STALL_NS;
        int outstanding = 1;
        while (outstanding > 0) {
            turn();
            outstanding = 0;
            for (KvClient client : clients) {
                client.deliver(this);
                outstanding += client.outstanding();
            }
            if (nowNs - deadlineNs > 0) {
                throw new MeasurementException(outstanding + " READs did not complete: is the server alive?");
            }
        }
    }

    private void turn() {
        int count = 0;
        for (int empty = 0; count == 0 && empty < EMPTY_POLLS_PER_CLOCK; empty++) {
            count = loop.poll();
        }
        nowNs = System.nanoTime();
    }

    private void fill(KvClient client, int window, Arrivals arrivals) {
        int room = window - client.outstanding();
        int due = 0;
        while (due < room && arrivals.isDue(nowNs)) {
            int key = choice.applyAsInt(keys.size());
            int tag = freeTags[--freeTagCount];
            dueKeys[due] = keys.key(key);
            dueTags[due] = (long) key << KEY_BITS | tag;
            sentNs[tag] = arrivals.take(nowNs);
            due++;
        }
        startAll(client, due);
    }

    /** A place that is not known any more is learnt, and counts as an error: it may not happen in this study. */
    private void startAll(KvClient client, int due) {
        int next = client.start(dueKeys, dueTags, due);
        while (next < due) {
            StartStatus status = client.start(dueKeys[next], dueTags[next]);
            if (status != StartStatus.STARTED) {
                freeTags[freeTagCount++] = (int) dueTags[next];
                failed(status.name());
                client.get(dueKeys[next]);
                nowNs = System.nanoTime();
            }
            next++;
        }
    }

    private void failed(String fault) {
        errors++;
        faults.merge(fault, 1, Integer::sum);
    }

    private String faults() {
        return faults.isEmpty() ? "" : faults.toString();
    }

    @Override
    public void onRead(long tagAndKey, ReadOutcome outcome, RemoteItem item) {
        int tag = (int) tagAndKey;
        freeTags[freeTagCount++] = tag;
        if (outcome != ReadOutcome.HIT) {
            failed(outcome.name());
            return;
        }
        if (!isRight((int) (tagAndKey >>> KEY_BITS), item)) {
            failed("wrong value");
            return;
        }
        gets++;
        latencies.recordValue(Math.min(nowNs - sentNs[tag], Latencies.HIGHEST_NS));
    }

    private boolean isRight(int key, RemoteItem item) {
        return item.valueLength() == keys.valueLength()
                && (gets % SAMPLE_INTERVAL != 0
                        || keys.matches(key, 0, item.memory(), item.valueOffset(), item.valueLength()));
    }

    @Override
    public void close() {
        for (int i = clients.size() - 1; i >= 0; i--) {
            clients.get(i).close();
        }
        loop.close();
        if (ownDevice != null) {
            ownDevice.close();
        }
    }
}
