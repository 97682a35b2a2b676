package org.softrdma.kv.server;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.memcached.Expiry;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TokenPlace;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.SlabAllocator;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A memcached whose items clients may also READ: the store in registered memory, the memcached port and the RDMA port.
 *
 * <p>The device must drive itself (engine mode): READs are served while all threads of this class sleep. Started and closed
 * by its owner; runs on threads of its own.
 */
public final class KvServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KvServer.class);

    private final KvServerContext context;
    private final ServerCounters counters = new ServerCounters();
    private final CloseStack owned = new CloseStack();
    private final OutputBudget outputBudget = new OutputBudget();
    private final DeviceArenas<?> arenas;
    private final ItemStore store;
    private final Maintenance maintenance;
    private final PrefixStatistics prefixes = new PrefixStatistics();
    private final ServerStatistics statistics;
    private final RdmaPort rdmaPort;
    private final MemcachedPort memcachedPort;
    private final byte[] versionLine;
    private final String bootId;
    private volatile long verbosity;

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
        this.context = context;
        this.verbosity = context.verbosity();
        SecureRandom random = new SecureRandom();
        this.bootId = HexFormat.of().toHexDigits(random.nextLong());
        this.versionLine = TextProtocol.line("VERSION " + context.version());
        try {
            ProtectionDomain domain = owned.add(device.allocateProtectionDomain());
            SlabGeometry geometry =
                    new SlabGeometry(context.slabFactor(), context.minimumSpace(), context.maxItemLength());
            arenas = owned.add(DeviceArenas.of(context, device, domain, geometry));
            SlabAllocator slabs = new SlabAllocator(geometry, arenas, context.memoryLimit(), context.wiping());
            slabs.prepare();
            store = new ItemStore(slabs, random.nextLong(), context.evicting());
            maintenance = owned.add(new Maintenance(
                    store,
                    context.clockSeconds(),
                    context.tailsReclaimed(),
                    context.crawling(),
                    Maintenance.newExecutor(),
                    context.fatalErrors()));
            statistics = new ServerStatistics(this, context, counters, store, device);
            rdmaPort = owned.add(new RdmaPort(device, domain, store, counters, context));
            rdmaPort.start();
            memcachedPort = owned.add(new MemcachedPort(this, context));
            maintenance.start(memcachedPort::closeIdle);
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    /**
     * Where memcached clients connect over TCP.
     *
     * @throws IllegalStateException if the server listens on a Unix socket instead
     */
    public InetSocketAddress memcachedAddress() {
        return memcachedPort.address();
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

    ItemStore store() {
        return store;
    }

    KvServerContext context() {
        return context;
    }

    Maintenance maintenance() {
        return maintenance;
    }

    /** Takes memory for an item; a device that gives no further arena is out of memory. */
    NewItem reserve(byte[] key, int keyOffset, int keyLength, int flags, int expiry, int valueLength, long nowSeconds) {
        try {
            return store.reserve(key, keyOffset, keyLength, flags, expiry, valueLength, nowSeconds);
        } catch (VerbsException e) {
            LOG.error("the device gives no further arena: {}", e.getMessage());
            return NewItem.outOfMemory();
        }
    }

    long verbosity() {
        return verbosity;
    }

    void verbosity(long level) {
        verbosity = level;
    }

    ServerCounters counters() {
        return counters;
    }

    ServerStatistics statistics() {
        return statistics;
    }

    PrefixStatistics prefixes() {
        return prefixes;
    }

    RdmaPort rdmaPort() {
        return rdmaPort;
    }

    MemcachedPort memcachedPort() {
        return memcachedPort;
    }

    int maxConnections() {
        return context.maxConnections();
    }

    long nowSeconds() {
        return context.clockSeconds().getAsLong();
    }

    OutputBudget outputBudget() {
        return outputBudget;
    }

    /** A thread has met an Error, or has ended: what it served is served no more, and the owner is to know. Any thread. */
    void fail(Throwable cause) {
        context.fatalErrors().accept(cause);
    }

    /** The time on the server's clock that an exptime means. */
    int expiry(int exptime, long nowSeconds) {
        return Expiry.toAbsolute(exptime, nowSeconds, context.wallSeconds());
    }

    byte[] versionLine() {
        return versionLine;
    }

    /** {@code RDMA 2 <port> <token> <bootId> <arena|chunk> <private-data|send>}. */
    byte[] helloLine(String token) {
        return TextProtocol.line("RDMA " + HelloDescriptor.VERSION + " "
                + rdmaAddress().getPort() + " " + token + " " + bootId + " "
                + context.registration().word() + " " + rdmaPort.tokenPlace().word());
    }

    /** What locators may name: lines as the registration has them, and END. */
    byte[] arenaLines() {
        return (arenas.lines() + new String(TextProtocol.END, StandardCharsets.US_ASCII))
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Memory regions that the items take. */
    long itemRegions() {
        return arenas.regions();
    }
}
