package org.softrdma.kv.client.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvCommands;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.KvRequest;
import org.softrdma.kv.client.SharedKvClient;
import org.softrdma.kv.turns.Turns;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client of several servers for any number of threads: {@link KvCluster} with a {@link SharedKvClient} for each
 * server, which has threads of its own. The device must drive itself. Thread-safe.
 */
public final class SharedKvCluster implements KvCommands {
    private final KvClusterContext context;
    private final Membership membership;
    private final Turns turns;
    private final List<ServerSlot<SharedKvClient>> slots = new ArrayList<>();

    /**
     * A client with READs.
     *
     * @param device stays open until after the client is closed
     * @param context servers, and how to connect to them
     */
    public static SharedKvCluster connect(VerbsDevice device, KvClusterContext context) {
        return new SharedKvCluster(context, device);
    }

    /**
     * A client of any memcached servers, without RDMA: it needs no device and no verbs provider.
     *
     * @param context servers, and how to connect to them
     */
    public static SharedKvCluster connect(KvClusterContext context) {
        return new SharedKvCluster(context, null);
    }

    private SharedKvCluster(KvClusterContext context, @Nullable VerbsDevice device) {
        this.context = context;
        KvClientContext one = context.template();
        membership = new Membership(context, one.nanoClock());
        turns = one.turns();
        for (ClusterServer server : context.servers()) {
            slots.add(new ServerSlot<>(one.nanoClock(), () -> connected(device, server)));
        }
    }

    private SharedKvClient connected(@Nullable VerbsDevice device, ClusterServer server) {
        KvClientContext its = context.context(server);
        return device == null ? SharedKvClient.connect(its) : SharedKvClient.connect(device, its);
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
     * Sends a request about one key, as {@link SharedKvClient#submit} does. The first request to a server waits until that
     * is connected.
     *
     * @param request used once
     * @return completed with the result or a {@link KvException}, by a thread of the server's client: do not block in
     *     dependent stages
     * @throws IllegalArgumentException if it does not concern exactly one key
     */
    public <T> CompletableFuture<T> submit(KvRequest<T> request) {
        return submit(KvCluster.onlyServer(request, membership), request);
    }

    private <T> CompletableFuture<T> submit(int server, KvRequest<T> request) {
        CompletableFuture<T> future;
        try {
            future = slots.get(server).client().submit(request);
        } catch (KvException e) {
            future = CompletableFuture.failedFuture(e);
        }
        return future.whenComplete((result, failure) -> {
            if (failure == null) {
                membership.answered(server);
            } else if (failure instanceof KvException reason) {
                membership.told(server, reason);
            }
        });
    }

    @Override
    public <T> T execute(KvRequest<T> request) {
        return result(submit(request));
    }

    private <T> T result(CompletableFuture<T> future) {
        try {
            return turns.get(future);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KvException reason) {
                throw reason.forCaller();
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KvException("interrupted while waiting for " + context.servers(), e);
        }
    }

    @Override
    public List<Optional<KvItem>> getAll(List<byte[]> keys) {
        ServerGroups groups = new ServerGroups(keys, membership, slots.size());
        return groups.items(results(groups.ask((server, some) -> submit(server, KvRequest.getAll(some)))));
    }

    @Override
    public void flushAll(Duration delay) {
        each(() -> KvRequest.flushAll(Math.toIntExact(delay.toSeconds())));
    }

    @Override
    public Map<String, String> stats(String what) {
        return KvCluster.merged(context.servers(), each(() -> KvRequest.stats(what)));
    }

    /** The versions of all servers, each once, with commas between them. */
    @Override
    public String version() {
        return String.join(", ", new TreeSet<>(each(KvRequest::version)));
    }

    /** All servers at once. */
    private <T> List<T> each(Supplier<? extends KvRequest<T>> request) {
        List<CompletableFuture<T>> futures = new ArrayList<>();
        for (int server = 0; server < slots.size(); server++) {
            futures.add(submit(server, request.get()));
        }
        return results(futures);
    }

    /** Waits for all, also for those behind one that failed. */
    private <T> List<T> results(List<CompletableFuture<T>> futures) {
        List<T> results = new ArrayList<>();
        ServerFailures failures = new ServerFailures();
        for (CompletableFuture<T> future : futures) {
            failures.ask(() -> result(future), results);
        }
        failures.throwIfAny();
        return results;
    }

    /** PLAIN if a server that is connected is a plain one; AUTO while none is connected. */
    @Override
    public KvProtocol protocol() {
        return KvCluster.protocol(slots);
    }

    @Override
    public void close() {
        try (CloseStack all = new CloseStack()) {
            slots.forEach(slot -> all.add(slot::close));
        }
    }
}
