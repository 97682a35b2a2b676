package org.softrdma.kv.server;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HexFormat;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.message.TokenPlace;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.SlabAllocator;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A memcached whose items clients may also READ: the store in registered memory, the memcached port and the RDMA port. This
 * class puts them together; none of them knows it.
 *
 * <p>The device must drive itself (engine mode): READs are served while all threads of this class sleep. Started and closed
 * by its owner; runs on threads of its own.
 */
public final class KvServer implements AutoCloseable {
    private final CloseStack owned = new CloseStack();
    private final ServerParts parts;
    private final RdmaPort rdmaPort;
    private final ServerPort memcachedPort;

    /**
     * Starts a server.
     *
     * @param device a device that drives itself; stays open until after this is closed
     * @param context concluded
     * @throws IllegalArgumentException if the device is in manual progress, cannot register as the context has it, or cannot keep
     *     out who has no password
     * @throws RuntimeException if an address cannot be used or the device gives no memory; the message says why
     */
    public static KvServer start(VerbsDevice device, KvServerContext context) {
        if (device.manualProgress()) {
            throw new IllegalArgumentException("device " + device.name()
                    + " is in manual progress; a server needs one that drives itself (progress=engine)");
        }
        if (context.passwords() != null
                && TokenPlace.on(device.capabilities().maxPrivateData()) != TokenPlace.PRIVATE_DATA) {
            throw new IllegalArgumentException(
                    "authentication (-Y) needs private data in the connect of a queue pair, or anybody"
                            + " could READ before it is known who that is; device " + device.name()
                            + " has none: use another provider for it, or no -Y on a network that only friends can reach");
        }
        return new KvServer(device, context);
    }

    private KvServer(VerbsDevice device, KvServerContext context) {
        try {
            ProtectionDomain domain = owned.add(device.allocateProtectionDomain());
            SlabGeometry geometry = new SlabGeometry(
                    context.items().slabFactor(),
                    context.items().minimumSpace(),
                    context.items().maxItemLength());
            DeviceArenas<?> arenas = owned.add(arenas(context, device, domain, geometry));
            SlabAllocator slabs = new SlabAllocator(
                    geometry,
                    arenas,
                    context.items().memoryLimit(),
                    context.items().wiping());
            slabs.prepare();
            String bootId =
                    HexFormat.of().toHexDigits(context.surroundings().random().nextLong());
            ItemStore store = new ItemStore(
                    slabs,
                    context.surroundings().random().nextLong(),
                    context.items().evicting());
            KvService service = new KvService(context, store);
            Maintenance maintenance = owned.add(new Maintenance(
                    store,
                    context.surroundings().clockSeconds(),
                    context.items().tailsReclaimed(),
                    context.items().crawling(),
                    context.surroundings().ownThreads().scheduler("kv-maintenance"),
                    context.fatalErrors()));
            Admission admission = new Admission(service, device);
            rdmaPort = owned.add(new RdmaPort(device, domain, service, admission));
            rdmaPort.start();
            ConnectionList connections = new ConnectionList(service);
            int port = rdmaPort.address().getPort();
            parts = new ServerParts(
                    service,
                    new RdmaOffer(context, admission, arenas, port, bootId),
                    maintenance,
                    new ServerStatistics(service, device, arenas, admission.wrongKeys(), maintenance, connections),
                    connections);
            memcachedPort = owned.add(context.surroundings()
                    .network()
                    .listen(context.port(), client -> new MemcachedConnection(parts, client), service::fail));
            connections.listening(memcachedPort.localAddress());
            maintenance.start(connections::closeIdle);
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    private static DeviceArenas<?> arenas(
            KvServerContext context, VerbsDevice device, ProtectionDomain domain, SlabGeometry geometry) {
        return switch (context.items().registration()) {
            case ARENA -> new RegisteredArenas(device, domain, context.items().memory());
            case CHUNK ->
                new RegisteredChunks(device, domain, context.items().memory(), geometry, context.maxConnections());
        };
    }

    /**
     * Where memcached clients connect over TCP.
     *
     * @throws IllegalStateException if the server listens on a Unix socket instead
     */
    public InetSocketAddress memcachedAddress() {
        SocketAddress address = memcachedPort.localAddress();
        if (address instanceof InetSocketAddress tcp) {
            return tcp;
        }
        throw new IllegalStateException("the server listens on " + address + ", not on a TCP port");
    }

    /** Where queue pairs are connected. */
    public InetSocketAddress rdmaAddress() {
        return rdmaPort.address();
    }

    /** Ends all connections and threads and frees the memory. Idempotent. */
    @Override
    public void close() {
        owned.close();
    }

    /** What its connections use. */
    ServerParts parts() {
        return parts;
    }

    ServerPort memcachedPort() {
        return memcachedPort;
    }

    ItemStore store() {
        return parts.service().store();
    }

    ServerCounters counters() {
        return parts.service().counters();
    }

    long nowSeconds() {
        return parts.service().nowSeconds();
    }
}
