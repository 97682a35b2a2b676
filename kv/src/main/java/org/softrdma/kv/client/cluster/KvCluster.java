package org.softrdma.kv.client.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvCommands;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.KvRequest;
import org.softrdma.kv.client.ReadHandler;
import org.softrdma.kv.client.StartStatus;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client of several servers for one thread; {@link SharedKvCluster} is the one for many. Each key lives on one server
 * ({@link Ketama}), and a request about it goes there and nowhere else: READs, locators and touch reports are those of a
 * {@link KvClient} for each server. A server is connected when it is first needed.
 *
 * <p>When a server fails, the requests to it fail; none is sent to another server instead, because the outcome at the
 * first one is unknown. {@link KvClusterContext#withEjection} says what can happen to later requests.
 *
 * <p>Requests without a key go to all servers: {@link #flushAll} to each, {@link #stats} of each with the server's name
 * in front, {@link #version} of all. If servers fail, the others are asked all the same, and then an exception names
 * those that failed.
 */
public final class KvCluster implements KvCommands {
    private final KvClusterContext context;
    private final Membership membership;
    private final @Nullable CompletionLoop loop;
    private final List<ServerSlot<KvClient>> slots = new ArrayList<>();

    /**
     * A client with READs.
     *
     * @param device stays open until after the client is closed
     * @param context servers, and how to connect to them
     */
    public static KvCluster connect(VerbsDevice device, KvClusterContext context) {
        KvClientContext one = context.template();
        if (one.protocol() == KvProtocol.PLAIN) {
            return connect(context);
        }
        return new KvCluster(
                context,
                one,
                new CompletionLoop(device, context.servers().size(), one.window(), one.nanoClock(), one.spin()));
    }

    /**
     * A client of any memcached servers, without RDMA: it needs no device and no verbs provider.
     *
     * @param context servers, and how to connect to them
     */
    public static KvCluster connect(KvClusterContext context) {
        return new KvCluster(context, context.template(), null);
    }

    private KvCluster(KvClusterContext context, KvClientContext one, @Nullable CompletionLoop loop) {
        this.context = context;
        this.loop = loop;
        membership = new Membership(context, one.nanoClock());
        for (ClusterServer server : context.servers()) {
            slots.add(new ServerSlot<>(one.nanoClock(), () -> connected(server)));
        }
    }

    private KvClient connected(ClusterServer server) {
        KvClientContext its = context.context(server);
        return loop == null ? KvClient.connect(its) : new KvClient(loop, its);
    }

    /** The servers, in the order of the context. */
    public List<ClusterServer> servers() {
        return context.servers();
    }

    /** The servers that are ejected now. */
    public List<ClusterServer> ejected() {
        return membership.ejected();
    }

    /** The server that a key lives on now. */
    public ClusterServer server(byte[] key) {
        return context.servers().get(membership.serverOf(key));
    }

    /**
     * The client of a server, connected if it was not yet.
     *
     * @param server one of {@link #servers()}
     * @throws KvException if it cannot be reached
     */
    public KvClient client(ClusterServer server) {
        int index = context.servers().indexOf(server);
        if (index < 0) {
            throw new IllegalArgumentException("server " + server + ": not one of " + context.servers());
        }
        return counted(index, Function.identity());
    }

    @Override
    public <T> T execute(KvRequest<T> request) {
        return counted(onlyServer(request, membership), client -> client.execute(request));
    }

    /** The one server that a request is about. */
    static int onlyServer(KvRequest<?> request, Membership membership) {
        List<byte[]> keys = request.keys();
        if (keys.size() != 1) {
            throw new IllegalArgumentException("a request about " + keys.size()
                    + " keys: expected one; a cluster has methods of its own for many keys and for whole servers");
        }
        return membership.serverOf(keys.getFirst());
    }

    @Override
    public List<Optional<KvItem>> getAll(List<byte[]> keys) {
        ServerGroups groups = new ServerGroups(keys, membership, slots.size());
        return groups.items(
                groups.ask((server, some) -> counted(server, client -> client.execute(KvRequest.getAll(some)))));
    }

    @Override
    public void flushAll(Duration delay) {
        each(client -> {
            client.flushAll(delay);
            return true;
        });
    }

    @Override
    public Map<String, String> stats(String what) {
        return merged(context.servers(), each(client -> client.stats(what)));
    }

    /** Statistics of several servers, each name behind its server's. */
    static Map<String, String> merged(List<ClusterServer> servers, List<Map<String, String>> statistics) {
        Map<String, String> merged = new LinkedHashMap<>();
        for (int i = 0; i < servers.size(); i++) {
            String server = servers.get(i) + " ";
            statistics.get(i).forEach((name, value) -> merged.put(server + name, value));
        }
        return merged;
    }

    /** The versions of all servers, each once, with commas between them. */
    @Override
    public String version() {
        return String.join(", ", new TreeSet<>(each(KvCommands::version)));
    }

    /** PLAIN if a server that is connected is a plain one; AUTO while none is connected. */
    @Override
    public KvProtocol protocol() {
        return protocol(slots);
    }

    static KvProtocol protocol(List<? extends ServerSlot<?>> slots) {
        KvProtocol protocol = KvProtocol.AUTO;
        for (ServerSlot<?> slot : slots) {
            KvCommands client = slot.existing();
            if (client != null && protocol != KvProtocol.PLAIN) {
                protocol = client.protocol();
            }
        }
        return protocol;
    }

    /**
     * Starts a READ of an item whose location is known; {@link #deliver} posts it. Allocates nothing.
     *
     * @param key the key; must not change until the result was delivered
     * @param tag given back with the result
     */
    public StartStatus start(byte[] key, long tag) {
        KvClient client = slots.get(membership.serverOf(key)).existing();
        return client == null ? StartStatus.UNKNOWN : client.start(key, tag);
    }

    /**
     * Posts READs that were started, takes completions, and delivers results of READs; does not wait. Allocates nothing.
     *
     * @param handler called once per result
     * @return the number of results
     */
    public int deliver(ReadHandler handler) {
        if (loop != null) {
            loop.poll();
        }
        int delivered = 0;
        for (int i = 0; i < slots.size(); i++) {
            KvClient client = slots.get(i).existing();
            delivered += client == null ? 0 : client.deliver(handler);
        }
        return delivered;
    }

    /** READs that were started and not delivered. */
    public int outstanding() {
        int outstanding = 0;
        for (ServerSlot<KvClient> slot : slots) {
            KvClient client = slot.existing();
            outstanding += client == null ? 0 : client.outstanding();
        }
        return outstanding;
    }

    private <R> List<R> each(Function<KvClient, R> action) {
        List<R> results = new ArrayList<>();
        ServerFailures failures = new ServerFailures();
        for (int i = 0; i < slots.size(); i++) {
            int server = i;
            failures.ask(() -> counted(server, action), results);
        }
        failures.throwIfAny();
        return results;
    }

    private <R> R counted(int server, Function<KvClient, R> action) {
        return membership.counted(server, () -> action.apply(slots.get(server).client()));
    }

    @Override
    public void close() {
        try (CloseStack all = new CloseStack()) {
            if (loop != null) {
                all.add(loop);
            }
            slots.forEach(slot -> all.add(slot::close));
        }
    }
}
