package org.softrdma.kv.server;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.message.TokenPlace;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.kv.server.host.ServerThreads;
import org.softrdma.kv.server.memory.DeviceArenas;
import org.softrdma.kv.server.memory.RegisteredArenas;
import org.softrdma.kv.server.memory.RegisteredChunks;
import org.softrdma.kv.server.rdma.Admission;
import org.softrdma.kv.server.rdma.RdmaCounters;
import org.softrdma.kv.server.rdma.RdmaOffer;
import org.softrdma.kv.server.rdma.RdmaPort;
import org.softrdma.kv.server.rdma.RdmaService;
import org.softrdma.kv.server.rdma.RdmaSettings;
import org.softrdma.kv.server.session.ClientRules;
import org.softrdma.kv.server.session.ConnectionList;
import org.softrdma.kv.server.session.KvService;
import org.softrdma.kv.server.session.Maintenance;
import org.softrdma.kv.server.session.MemcachedConnection;
import org.softrdma.kv.server.session.OwnerCalls;
import org.softrdma.kv.server.session.ServerCounters;
import org.softrdma.kv.server.session.ServerParts;
import org.softrdma.kv.server.session.ServerStatistics;
import org.softrdma.kv.server.session.ServiceClocks;
import org.softrdma.kv.server.session.ServiceSettings;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.SlabAllocator;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A memcached whose items clients may also READ: the store in registered memory, the memcached port and the RDMA
 * port. This class puts them together; none of them knows it.
 *
 * <p>The device must be in engine mode, so that READs are served while all threads of the server sleep, unless {@link
 * ServerThreads#stepped} says that one thread does everything. Started and closed by its owner.
 */
public final class KvServer implements AutoCloseable {
    private static final long DRAIN_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final CloseStack owned = new CloseStack();
    private final ServerParts parts;
    private final RdmaPort rdmaPort;
    private final ServerPort memcachedPort;

    /**
     * Starts a server.
     *
     * @param device a device in engine mode; stays open until after this is closed
     * @param context concluded
     * @throws IllegalArgumentException if the device is in manual progress and the server has threads, if it cannot
     *     register memory as the context says, or if it cannot keep out clients without a password
     * @throws RuntimeException if an address cannot be used or the device gives no memory; the message says why
     */
    public static KvServer start(VerbsDevice device, KvServerContext context) {
        if (device.manualProgress() && !context.environment().ownThreads().stepped()) {
            throw new IllegalArgumentException("device " + device.name()
                    + " is in manual progress; a server with threads needs one that drives itself (progress=engine)");
        }
        if (context.passwords() != null
                && TokenPlace.on(device.capabilities().maxPrivateData()) != TokenPlace.PRIVATE_DATA) {
            throw new IllegalArgumentException(
                    "authentication (-Y) needs private data in the connect of a queue pair, or anybody could READ"
                            + " before logging in; device " + device.name()
                            + " has none: use another provider, or leave out -Y on a network that you trust");
        }
        return new KvServer(device, context);
    }

    private KvServer(VerbsDevice device, KvServerContext context) {
        try {
            ProtectionDomain domain = owned.add(device.allocateProtectionDomain());
            SlabGeometry geometry = new SlabGeometry(
                    context.items().slabFactor(),
                    context.items().minimumSpace(),
                    context.items().maxItemLength(),
                    context.items().pageLength());
            DeviceArenas<?> arenas = owned.add(arenas(context, device, domain, geometry));
            String bootId =
                    HexFormat.of().toHexDigits(context.environment().random().nextLong());
            ItemStore store = store(context, geometry, arenas);
            KvService service = service(context, store);
            ServerThreads threads = context.environment().ownThreads();
            Maintenance maintenance = new Maintenance(
                    store,
                    context.environment().clockSeconds(),
                    context.environment().nanoClock(),
                    context.items().tailsReclaimed(),
                    context.items().crawling(),
                    context.fatalErrors());
            owned.add(threads.start(maintenance));
            Admission admission = new Admission(rdmaService(context, store), device);
            rdmaPort = owned.add(new RdmaPort(device, domain, admission));
            rdmaPort.start(threads);
            ConnectionList connections = new ConnectionList(service);
            RdmaOffer offer = new RdmaOffer(
                    admission,
                    arenas,
                    context.items().registration().word(),
                    rdmaPort.addresses().getFirst().getPort(),
                    bootId);
            parts = new ServerParts(
                    service,
                    offer,
                    maintenance,
                    new ServerStatistics(
                            service,
                            device,
                            offer,
                            maintenance,
                            connections,
                            new SettingsStatistics(context, service, maintenance, connections)),
                    connections);
            memcachedPort = owned.add(context.environment()
                    .network()
                    .listen(context.port(), client -> new MemcachedConnection(parts, client), service::fail));
            connections.listening(memcachedPort);
            maintenance.everyRound(connections::closeIdle);
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    private static ItemStore store(KvServerContext context, SlabGeometry geometry, DeviceArenas<?> arenas) {
        ItemSettings items = context.items();
        SlabAllocator slabs = new SlabAllocator(
                geometry,
                arenas,
                items.memoryLimit(),
                items.wiping(),
                context.environment().turns());
        slabs.prepare(items.takenAtStart());
        ItemStore store =
                new ItemStore(slabs, context.environment().random().nextLong(), items.evicting(), items.casNumbers());
        items.lru().accept(store.lru());
        items.balance().accept(store.balance());
        return store;
    }

    private static KvService service(KvServerContext context, ItemStore store) {
        Passwords passwords = context.passwords();
        ClientRules rules = new ClientRules(
                context.maxConnections(),
                context.requestsPerTurn(),
                context.timeouts().idleTimeoutSeconds(),
                context.flushAllowed(),
                context.protocol(),
                passwords == null ? null : passwords::allow);
        OwnerCalls owner = new OwnerCalls(context.shutdown(), context.moveClock(), context.fatalErrors());
        ServerEnvironment environment = context.environment();
        KvService made = new KvService(
                store,
                new ServiceSettings(context.port(), rules, owner, context.diagnosis(), context.version()),
                new ServiceClocks(environment.clockSeconds(), environment.wallSeconds(), environment.nanoClock()),
                environment.network().bufferBytes());
        made.verbosity(context.verbosity());
        return made;
    }

    private static RdmaService rdmaService(KvServerContext context, ItemStore store) {
        RdmaSettings settings = new RdmaSettings(
                context.rdmaAddresses(),
                context.rdmaPort(),
                context.isRdmaIpv6Only(),
                context.maxConnections(),
                context.timeouts().helloTimeoutNs(),
                context.timeouts().answerTimeoutNs(),
                context.environment().random());
        return new RdmaService(
                store,
                settings,
                context.environment().clockSeconds(),
                context.environment().nanoClock(),
                new RdmaCounters());
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

    /** Everywhere memcached clients connect over TCP; nowhere, if the server listens on a Unix socket. */
    public List<InetSocketAddress> memcachedAddresses() {
        return memcachedPort.localAddresses().stream()
                .filter(InetSocketAddress.class::isInstance)
                .map(InetSocketAddress.class::cast)
                .toList();
    }

    /**
     * Accepts no further connections, and ends the existing ones once the requests received so far are answered. Close
     * the server afterwards.
     *
     * @param timeoutNs the longest that this takes
     * @return true if all connections have ended
     */
    public boolean drain(long timeoutNs) {
        memcachedPort.stopAccepting();
        NanoClock clock = parts.service().nanoClock();
        long deadlineNs = clock.nanoTime() + Math.max(0, timeoutNs);
        while (!parts.connections().drain()) {
            if (clock.nanoTime() - deadlineNs >= 0) {
                return false;
            }
            LockSupport.parkNanos(DRAIN_PAUSE_NS);
        }
        return true;
    }

    /** The first address where clients connect queue pairs. */
    public InetSocketAddress rdmaAddress() {
        return rdmaPort.addresses().getFirst();
    }

    /** The addresses where clients connect queue pairs, all with one port. */
    public List<InetSocketAddress> rdmaAddresses() {
        return rdmaPort.addresses();
    }

    /**
     * The current answer to {@code stats}, as names and values in its order. Any thread may call it.
     *
     * @param group which of them: empty for the general ones, or settings, items, slabs or rdma
     */
    public Map<String, String> statistics(String group) {
        return parts.statistics().values(group);
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

    /** The memcached port: where it listens. It is closed with the server. */
    public ServerPort memcachedPort() {
        return memcachedPort;
    }

    ItemStore store() {
        return parts.service().store();
    }

    ServerCounters counters() {
        return parts.service().counters();
    }

    RdmaCounters rdmaCounters() {
        return parts.offer().admission().service().counters();
    }

    long nowSeconds() {
        return parts.service().nowSeconds();
    }
}
