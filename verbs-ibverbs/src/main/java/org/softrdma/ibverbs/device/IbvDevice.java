package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.ArenaMemory;
import org.softrdma.ibverbs.CmEventType;
import org.softrdma.ibverbs.Deadline;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.DatagramListener;
import org.softrdma.verbs.cm.DatagramRequestListener;
import org.softrdma.verbs.cm.DatagramService;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.provider.Closing;

/**
 * An {@code ibv_context} as a verbs device: the table of its queue pairs, and the application's objects. Thread-safe.
 */
public abstract class IbvDevice implements VerbsDevice, DeviceTraits {
    /**
     * Entries, of 32 bytes ({@code struct siw_cqe}), of an unused completion queue that is created on siw before all
     * others. libsiw mistakes the mapping offset 0x90000 of a queue for "none" (SIW_INVAL_UOBJ_KEY, which the kernel
     * has not used since it assigns offsets page by page), and refuses to create any queue that gets it, as long as it
     * is the first free offset. This queue covers it, from 0.
     */
    public static final int SIW_GUARD_ENTRIES = 0x90000 / 32 + 1;

    @SuppressWarnings("this-escape") // kept, not called
    private final OpenDevice opened = new OpenDevice(this, this::newUnconnected);

    @SuppressWarnings("this-escape") // kept, not called
    private final QueuePairs queuePairs = new QueuePairs(opened, this::connections, this::newQueuePair);

    private final Closing closing = new Closing();

    /** Without children. */
    protected IbvDevice() {}

    // ---- what a provider does

    /** Its event channel and thread. */
    protected abstract ConnectionManager connections();

    /** {@code ibv_alloc_pd}. */
    protected abstract IbvProtectionDomain newProtectionDomain();

    /** {@code ibv_create_comp_channel}, or its substitute. */
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
     * {@code rdma_create_qp}, or {@code ibv_create_qp} without an id.
     *
     * @param parts of this device
     */
    protected abstract IbvQueuePair newQueuePair(QueuePairParts parts);

    /**
     * The address to listen on: the device's own in place of a wildcard, if it needs one.
     *
     * @param local resolved
     */
    protected abstract InetSocketAddress listenAddress(InetSocketAddress local);

    /** Closes whatever keeps the context open, and {@link #connections}. */
    protected abstract void destroy();

    private UnconnectedQueuePair newUnconnected(ProtectionDomain domain, QueuePairAttributes attributes) {
        return queuePairs.create(domain, attributes, null);
    }

    /** The part of it that its objects know. */
    public final OpenDevice opened() {
        return opened;
    }

    // ---- VerbsDevice

    @Override
    public final boolean manualProgress() {
        return false;
    }

    @Override
    public final ProtectionDomain allocateProtectionDomain() {
        return opened.child(this::newProtectionDomain);
    }

    @Override
    public final CompletionChannel createCompletionChannel() {
        return opened.child(this::newCompletionChannel);
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
            return opened.child(() -> newCompletionQueue(minimumEntries, null, completionVector));
        }
        if (!(channel instanceof IbvCompletionChannel mine) || !mine.isOf(opened)) {
            throw new IllegalArgumentException("the completion channel belongs to another device, not to " + name());
        }
        return opened.child(() -> {
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
    public final Optional<AsyncEvent> awaitEvent(long timeoutNs) {
        return capabilities().has(Feature.ASYNC_EVENTS)
                ? opened.events().await(timeoutNs)
                : VerbsDevice.super.awaitEvent(timeoutNs);
    }

    @Override
    public final Listener listen(InetSocketAddress local, int backlog) {
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog=" + backlog + ": expected at least 1");
        }
        if (local.isUnresolved()) {
            throw new VerbsException(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, "unknown host " + local.getHostString());
        }
        InetSocketAddress address = listenAddress(local);
        return opened.child(() -> {
            CmId id = connections().createId();
            try {
                return new IbvListener(opened, queuePairs, id, address, backlog);
            } catch (Throwable e) {
                id.release();
                throw e;
            }
        });
    }

    @Override
    public final Connector resolve(InetSocketAddress remote, long timeoutNs) {
        return opened.child(() -> {
            if (remote.isUnresolved()) {
                throw new VerbsException(VerbsErrorCode.UNREACHABLE, "unknown host " + remote.getHostString());
            }
            CmId id = connections().createId();
            try {
                id.resolve(remote, Deadline.in(timeoutNs));
                return new IbvConnector(opened, queuePairs, id, remote);
            } catch (Throwable e) {
                id.release();
                throw e;
            }
        });
    }

    @Override
    public final DatagramService resolveDatagrams(InetSocketAddress service, byte[] privateData, long timeoutNs) {
        if (!capabilities().has(Feature.DATAGRAM_SERVICES)) {
            return VerbsDevice.super.resolveDatagrams(service, privateData, timeoutNs);
        }
        ConnectionParameters question = opened.clamp(new ConnectionParameters(0, 0, privateData));
        if (service.isUnresolved()) {
            throw new VerbsException(VerbsErrorCode.UNREACHABLE, "unknown host " + service.getHostString());
        }
        opened.childOpened();
        try {
            return resolveDatagrams(service, question, Deadline.in(timeoutNs));
        } finally {
            opened.childClosed();
        }
    }

    private DatagramService resolveDatagrams(
            InetSocketAddress service, ConnectionParameters question, Deadline deadline) {
        CmId id = connections().createDatagramId();
        try {
            id.resolve(service, deadline);
            CmEvent answer = CmId.await(
                    id.connect(question, service), CmEventType.ESTABLISHED, deadline, "the answer of", service);
            CmEvent.Datagrams found = Objects.requireNonNull(answer.datagrams(), "an answer without a queue pair");
            return new DatagramService(
                    new InetSocketAddress(service.getAddress(), QueuePairAddress.PORT),
                    found.number(),
                    found.queueKey(),
                    answer.privateData());
        } finally {
            id.awaitConnecting();
            id.release();
        }
    }

    @Override
    public final DatagramListener listenForDatagrams(InetSocketAddress local, DatagramService offered) {
        if (!capabilities().has(Feature.DATAGRAM_SERVICES)) {
            return VerbsDevice.super.listenForDatagrams(local, offered);
        }
        opened.checkOffered(offered);
        return listening(local, (id, address) -> new IbvDatagramListener(opened, id, address, offered));
    }

    @Override
    public final DatagramRequestListener listenForDatagramRequests(InetSocketAddress local, int backlog) {
        if (!capabilities().has(Feature.DATAGRAM_SERVICES)) {
            return VerbsDevice.super.listenForDatagramRequests(local, backlog);
        }
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog=" + backlog + ": expected at least 1");
        }
        return listening(local, (id, address) -> new IbvDatagramRequestListener(opened, id, address, backlog));
    }

    private <T> T listening(InetSocketAddress local, BiFunction<CmId, InetSocketAddress, T> listener) {
        if (local.isUnresolved()) {
            throw new VerbsException(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, "unknown host " + local.getHostString());
        }
        InetSocketAddress address = listenAddress(local);
        return opened.child(() -> {
            CmId id = connections().createDatagramId();
            try {
                return listener.apply(id, address);
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
                "connectionsEstablished",
                opened.connectionsEstablished(),
                "connectionsClosed",
                opened.connectionsClosed());
    }

    @Override
    public final void close() {
        closing.once(() -> {
            int live = opened.closeUnlessInUse();
            if (live > 0) {
                closing.stillOpen();
                throw new VerbsException(
                        VerbsErrorCode.BUSY,
                        live + " protection domains, completion channels, completion queues, listeners, connectors and"
                                + " connection requests of " + name() + " are open");
            }
            opened.events().close();
            destroy();
        });
    }

    @Override
    public final String toString() {
        return name();
    }
}
