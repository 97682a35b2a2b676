package org.softrdma.bench.workload;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.ReadHandler;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.client.RemoteItem;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.client.StartStatus;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The key-value server of this project by {@link KvClient}s on one device: GETs by READ of the places that they know.
 * What a READ does not bring is asked for with {@link KvClient#get}, one at a time. PUTs go over connections of
 * memcached's protocol, or, without these, by {@link KvClient#set}, one at a time too. The thread that made them.
 */
public final class KvReadConnections implements StoreConnections {
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final VerbsDevice device;
    private final boolean ownsDevice;
    private final CompletionLoop loop;
    private final List<KvClient> clients;
    private final @Nullable StoreConnections writers;
    /** GETs that the server is to be asked for. */
    private final Queue<Long> unanswered = new ArrayDeque<>();

    private final Queue<Long> stored = new ArrayDeque<>();
    private final Queue<Long> refused = new ArrayDeque<>();
    private final Map<ReadOutcome, Long> missed = new EnumMap<>(ReadOutcome.class);
    private final byte[][] keys;
    private final int[] connectionOf;
    private final ReadHandler reader = this::onRead;
    private long unknown;
    private long requests;
    private @Nullable ResultHandler results;
    private int delivered;

    /**
     * Connections.
     *
     * @param device of the clients
     * @param ownsDevice true if it is closed with them
     * @param loop of the clients, closed with them
     * @param clients closed with this
     * @param writers take the PUTs, closed with this; null for none
     * @param tags tags are from 0 to one less than this
     */
    public KvReadConnections(
            VerbsDevice device,
            boolean ownsDevice,
            CompletionLoop loop,
            List<KvClient> clients,
            @Nullable StoreConnections writers,
            int tags) {
        this.device = device;
        this.ownsDevice = ownsDevice;
        this.loop = loop;
        this.clients = new ArrayList<>(clients);
        this.writers = writers;
        keys = new byte[tags][];
        connectionOf = new int[tags];
    }

    @Override
    public int count() {
        return clients.size();
    }

    @Override
    public boolean startGet(int connection, byte[] key, long tag) {
        StartStatus status = clients.get(connection).start(key, tag);
        if (status == StartStatus.WINDOW_FULL) {
            return false;
        }
        keys[(int) tag] = key;
        connectionOf[(int) tag] = connection;
        if (status == StartStatus.UNKNOWN) {
            unknown++;
            unanswered.add(tag);
        }
        return true;
    }

    @Override
    public boolean startPut(int connection, byte[] key, MemorySegment value, long tag) {
        if (writers != null) {
            return writers.startPut(connection, key, value, tag);
        }
        requests++;
        SetStatus status = clients.get(connection).set(key, 0, 0, value.toArray(ValueLayout.JAVA_BYTE));
        (status == SetStatus.STORED ? stored : refused).add(tag);
        return true;
    }

    @Override
    public int poll(ResultHandler handler) {
        results = handler;
        delivered = 0;
        int ignored = loop.poll();
        for (int i = 0; i < clients.size(); i++) {
            deliver(clients.get(i));
        }
        while (!unanswered.isEmpty()) {
            ask(unanswered.remove(), handler);
        }
        deliver(stored, Outcome.STORED, handler);
        deliver(refused, Outcome.FULL, handler);
        if (writers != null) {
            delivered += writers.poll(handler);
        }
        return delivered;
    }

    /** What is to be asked for is not delivered yet, though the client counts it. */
    private void deliver(KvClient client) {
        int ignored = client.deliver(reader);
    }

    private void deliver(Queue<Long> tags, Outcome outcome, ResultHandler handler) {
        while (!tags.isEmpty()) {
            delivered++;
            handler.onResult(tags.remove(), outcome, NOTHING, 0, 0);
        }
    }

    private void onRead(long tag, ReadOutcome outcome, RemoteItem item) {
        ResultHandler handler = results;
        if (outcome == ReadOutcome.HIT && handler != null) {
            delivered++;
            handler.onResult(tag, Outcome.FOUND, item.memory(), item.valueOffset(), item.valueLength());
        } else {
            missed.merge(outcome, 1L, Long::sum);
            unanswered.add(tag);
        }
    }

    private void ask(long tag, ResultHandler handler) {
        delivered++;
        requests++;
        Optional<KvItem> item = clients.get(connectionOf[(int) tag]).get(keys[(int) tag]);
        if (item.isEmpty()) {
            handler.onResult(tag, Outcome.MISSING, NOTHING, 0, 0);
        } else {
            byte[] value = item.get().value();
            handler.onResult(tag, Outcome.FOUND, MemorySegment.ofArray(value), 0, value.length);
        }
    }

    /** What is asked for without READ counts as SENDs, though it goes over TCP. */
    @Override
    public StoreCounters counters() {
        StoreCounters counters = new StoreCounters();
        counters.add(StoreCounter.SENDS, requests);
        clients.forEach(
                client -> counters.add(StoreCounter.READS, client.counters().reads()));
        if (writers != null) {
            counters.add(writers.counters());
        }
        return counters;
    }

    @Override
    public Map<String, Long> otherRetries() {
        Map<String, Long> retries = new HashMap<>();
        retries.put("place unknown", unknown);
        missed.forEach((outcome, count) -> retries.put(
                "item "
                        + switch (outcome) {
                            case STALE -> "replaced";
                            case TORN -> "torn";
                            case KEY_MISMATCH -> "of another key";
                            case EXPIRED -> "expired";
                            case FORWARDED, HIT, LOST -> "lost";
                        },
                count));
        retries.put(
                "forward followed",
                clients.stream()
                        .mapToLong(client -> client.counters().forwarded())
                        .sum());
        retries.values().removeIf(count -> count == 0);
        return retries;
    }

    @Override
    public Map<String, Long> deviceCounters() {
        return device.counters();
    }

    @Override
    public void close() {
        for (int i = clients.size() - 1; i >= 0; i--) {
            clients.get(i).close();
        }
        clients.clear();
        if (writers != null) {
            writers.close();
        }
        loop.close();
        if (ownsDevice) {
            device.close();
        }
    }
}
