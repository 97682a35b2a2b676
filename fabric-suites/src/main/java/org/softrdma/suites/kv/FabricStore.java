package org.softrdma.suites.kv;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.stream.StreamNetwork;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A server of the store on a node of a fabric, with a device of its own; and what clients on other nodes need to reach
 * it. Opened and closed by a process of the run.
 *
 * <pre>{@code
 * fabric.run(server, () -> {
 *     try (FabricStore store = FabricStore.open(fabric, server, context -> context)) {
 *         client.start("user", () -> {
 *             KvClientContext context = FabricStore.client(fabric, client, store.address());
 *             ...
 *         });
 *         ...
 *     }
 * });
 * }</pre>
 */
public final class FabricStore implements AutoCloseable {
    /** The wall clock at the beginning of every run: 2026-01-01. */
    private static final long EPOCH_SECONDS = 1_767_225_600;

    private static final int PORT = 11_211;
    private static final int THREADS = 2;

    /** From so few that the answers of a client or two are many, to enough for all. */
    private static final long LEAST_BUFFER_BYTES = 1 << 16;

    private static final long MOST_BUFFER_BYTES = 1 << 22;

    private final VerbsDevice device;
    private final KvServer server;

    private FabricStore(VerbsDevice device, KvServer server) {
        this.device = device;
        this.server = server;
    }

    /**
     * Starts a server.
     *
     * @param fabric of the run
     * @param node it runs on
     * @param settings changes the settings; the environment is the fabric's already
     */
    public static FabricStore open(Fabric fabric, FabricNode node, UnaryOperator<KvServerContext> settings) {
        KvServerContext context = new KvServerContext()
                .memcachedAddress(new InetSocketAddress(node.address(), PORT))
                .threads(THREADS)
                .version("fabric")
                .environment(around -> around.withWallSeconds(() -> seconds(fabric))
                        .withNanoClock(fabric.clock())
                        .withRandom(fabric.scheduler().choices().generator())
                        .withNetwork(new StreamNetwork(
                                (port, name, _) -> node.sockets(name, port.threads()),
                                fabric.scheduler().choices().between(LEAST_BUFFER_BYTES, MOST_BUFFER_BYTES)))
                        .withOwnThreads(new FabricServerThreads(fabric, node))
                        .withTurns(new SimulatedTurns(fabric, node)));
        VerbsDevice device = node.open(Map.of());
        try {
            return new FabricStore(
                    device, KvServer.start(device, settings.apply(context).conclude()));
        } catch (RuntimeException e) {
            device.close();
            throw e;
        }
    }

    /** The wall clock of all nodes. */
    public static long seconds(Fabric fabric) {
        return EPOCH_SECONDS + TimeUnit.NANOSECONDS.toSeconds(fabric.clock().nanoTime());
    }

    /**
     * Settings of a client, to be concluded: with or without a device, of one thread or shared.
     *
     * @param fabric of the run
     * @param node it runs on
     * @param server the memcached port
     */
    public static KvClientContext client(Fabric fabric, FabricNode node, InetSocketAddress server) {
        return new KvClientContext(server)
                .network(() -> new FabricClientNetwork(node))
                .nanoClock(fabric.clock(), fabric.idleStrategy())
                .random(fabric.scheduler().choices().generator())
                .turns(new SimulatedTurns(fabric, node));
    }

    /** The memcached port. */
    public InetSocketAddress address() {
        return server.memcachedAddress();
    }

    /** The server. */
    public KvServer server() {
        return server;
    }

    /** The server's device. */
    public VerbsDevice device() {
        return device;
    }

    @Override
    public void close() {
        server.close();
        device.close();
    }
}
