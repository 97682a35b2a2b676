package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.ArenaMemory;
import org.softrdma.ibverbs.Deadline;
import org.softrdma.ibverbs.QueuePairTable;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.VerbsDevice;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.provider.Closing;
import org.softrdma.verbs.provider.Creation;

/**
 * An {@code ibv_context} as a verbs device: the table of its queue pairs, and what the application made. Thread-safe.
 */
public abstract class IbvDevice implements VerbsDevice {
    /**
     * Entries, of 32 bytes ({@code struct siw_cqe}), of a completion queue that nobody uses, made on siw before all others. libsiw takes the
     * offset 0x90000 at which a queue is to be mapped for "none" (SIW_INVAL_UOBJ_KEY, which the kernel has not used since it gives offsets
     * page by page) and refuses to create whatever gets it, for as long as it is the first that is free. This queue covers it, from 0.
     */
    public static final int SIW_GUARD_ENTRIES = 0x90000 / 32 + 1;

    private static final int CLOSED = -1;

    private final QueuePairTable<IbvQueuePair> queuePairs = new QueuePairTable<>();
    private final Set<MemoryRegion> regions = ConcurrentHashMap.newKeySet();
    private final LongAdder connectionsEstablished = new LongAdder();
    private final LongAdder connectionsClosed = new LongAdder();
    /** Number of live children, or {@link #CLOSED}. */
    private final AtomicInteger children = new AtomicInteger();

    private final Closing closing = new Closing();

    /** Without children. */
    protected IbvDevice() {}

    // ---- what a provider does

    /** True on iWARP, and where the transport is unknown: what is then done suits every transport. */
    public abstract boolean isIwarp();

    /** True on the kernel's SoftiWARP. */
    public abstract boolean isSoftIwarp();

    /** Optional features of every connection. */
    protected abstract Set<Feature> connectionFeatures();

    /** Its event channel and thread. */
    protected abstract ConnectionManager connections();

    /** {@code ibv_alloc_pd}. */
    protected abstract IbvProtectionDomain newProtectionDomain();

    /** {@code ibv_create_comp_channel}, or what stands for it. */
    protected abstract IbvCompletionChannel newCompletionChannel();

    /**
     * {@code ibv_create_cq}.
     *
     * @param minimumEntries checked
     * @param channel of {@link #newCompletionChannel}, which counts the queue already; or null
     * @param vector checked
     */
    protected abstract IbvCompletionQueue newCompletionQueue(
            int minimumEntries, @Nullable IbvCompletionChannel channel, int vector);

    /**
     * {@code rdma_create_qp}.
     *
     * @param parts of this device
     */
    protected abstract IbvQueuePair newQueuePair(QueuePairParts parts);

    /**
     * Where to listen; the address of the device in place of a wildcard if it needs one.
     *
     * @param local resolved
     */
    protected abstract InetSocketAddress listenAddress(InetSocketAddress local);

    /** Closes what keeps the context, and {@link #connections}. */
    protected abstract void destroy();

    // ---- for the objects of this package

    final QueuePairTable<IbvQueuePair> queuePairs() {
        return queuePairs;
    }

    final void connectionEstablished() {
        connectionsEstablished.increment();
    }

    final void connectionClosed() {
        connectionsClosed.increment();
    }

    final void regionOpened(MemoryRegion region) {
        regions.add(region);
    }

    final void regionClosed(MemoryRegion region) {
        regions.remove(region);
    }

    final void childOpened() {
        if (children.getAndUpdate(count -> count < 0 ? count : count + 1) < 0) {
            throw new IllegalStateException(name() + " is closed");
        }
    }

    final void childClosed() {
        children.decrementAndGet();
    }

    /** Makes something that this device counts until it calls {@link #childClosed}. */
    final <T> T child(Supplier<T> made) {
        return Creation.counted(this::childOpened, made, this::childClosed, "an object of " + name());
    }

    final IbvQueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes, CmId id) {
        if (!(domain instanceof IbvProtectionDomain mine) || domain.device() != this) {
            throw new IllegalArgumentException("the protection domain is not of this device, " + name());
        }
        checkMine(attributes.sendCompletions());
        checkMine(attributes.receiveCompletions());
        QueuePairParts parts = QueuePairParts.take(this, mine, attributes, id);
        return Creation.orUndo(
                () -> {
                    IbvQueuePair made = newQueuePair(parts);
                    queuePairs.set(parts.tableNumber(), made);
                    id.heldBy(made);
                    return made;
                },
                () -> parts.giveBack(null),
                "a queue pair of " + attributes.limits());
    }

    private void checkMine(CompletionQueue queue) {
        if (!(queue instanceof IbvCompletionQueue mine) || !mine.isOf(this)) {
            throw new IllegalArgumentException("the completion queue is not of this device, " + name());
        }
    }

    /** What a side wants, within the limits of this device. */
    final ConnectionParameters clamp(ConnectionParameters parameters) {
        checkPrivateData(parameters.privateData().length);
        return new ConnectionParameters(
                Math.min(parameters.outboundReads(), capabilities().maxOutboundReads()),
                Math.min(parameters.inboundReads(), capabilities().maxInboundReads()),
                parameters.privateData());
    }

    final void checkPrivateData(int length) {
        int most = capabilities().maxPrivateData();
        if (length > most) {
            throw new IllegalArgumentException("private data of " + length + " bytes: expected at most " + most
                    + (most == 0 ? ", as this provider carries none; send it as the first message" : ""));
        }
    }

    // ---- VerbsDevice

    @Override
    public final boolean manualProgress() {
        return false;
    }

    @Override
    public final ProtectionDomain allocateProtectionDomain() {
        return child(this::newProtectionDomain);
    }

    @Override
    public final CompletionChannel createCompletionChannel() {
        return child(this::newCompletionChannel);
    }

    @Override
    public final CompletionQueue createCompletionQueue(int minimumEntries) {
        return createCompletionQueue(minimumEntries, null, 0);
    }

    @Override
    public final CompletionQueue createCompletionQueue(
            int minimumEntries, @Nullable CompletionChannel channel, int completionVector) {
        int most = capabilities().maxCompletionQueueEntries();
        if (minimumEntries < 1 || minimumEntries > most) {
            throw new IllegalArgumentException("minimumEntries=" + minimumEntries + ": expected 1 to " + most);
        }
        if (completionVector < 0 || completionVector >= capabilities().completionVectors()) {
            throw new IllegalArgumentException("completionVector=" + completionVector + ": expected 0 to "
                    + (capabilities().completionVectors() - 1));
        }
        if (channel == null) {
            return child(() -> newCompletionQueue(minimumEntries, null, completionVector));
        }
        if (!(channel instanceof IbvCompletionChannel mine) || !mine.isOf(this)) {
            throw new IllegalArgumentException("the completion channel is not of this device, " + name());
        }
        return child(() -> {
            mine.attach();
            try {
                return newCompletionQueue(minimumEntries, mine, completionVector);
            } catch (Throwable e) {
                mine.giveUp();
                throw e;
            }
        });
    }

    @Override
    public final HostMemory allocateMemory(long length) {
        return ArenaMemory.allocate(length);
    }

    @Override
    public final Listener listen(InetSocketAddress local, int backlog) {
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog=" + backlog + ": expected at least 1");
        }
        if (local.isUnresolved()) {
            throw new VerbsException(
                    VerbsErrorCode.ADDRESS_NOT_AVAILABLE, "host " + local.getHostString() + " is unknown");
        }
        InetSocketAddress address = listenAddress(local);
        return child(() -> {
            CmId id = connections().createId();
            try {
                return new IbvListener(this, id, address, backlog);
            } catch (Throwable e) {
                id.release();
                throw e;
            }
        });
    }

    @Override
    public final Connector resolve(InetSocketAddress remote, long timeoutNs) {
        return child(() -> {
            if (remote.isUnresolved()) {
                throw new VerbsException(VerbsErrorCode.UNREACHABLE, "host " + remote.getHostString() + " is unknown");
            }
            CmId id = connections().createId();
            try {
                id.resolve(remote, Deadline.in(timeoutNs));
                return new IbvConnector(this, id, remote);
            } catch (Throwable e) {
                id.release();
                throw e;
            }
        });
    }

    @Override
    public final int progress(long timeoutNs) {
        return 0;
    }

    @Override
    public Map<String, Long> counters() {
        return Map.of(
                "connectionsEstablished", connectionsEstablished.sum(), "connectionsClosed", connectionsClosed.sum());
    }

    @Override
    public final void close() {
        closing.once(() -> {
            int live = children.compareAndExchange(0, CLOSED);
            if (live > 0) {
                closing.stillOpen();
                throw new VerbsException(
                        VerbsErrorCode.BUSY,
                        live + " protection domains, completion channels, completion queues, listeners, connectors and"
                                + " connection requests of " + name() + " are open");
            }
            destroy();
        });
    }

    @Override
    public final String toString() {
        return name();
    }
}
