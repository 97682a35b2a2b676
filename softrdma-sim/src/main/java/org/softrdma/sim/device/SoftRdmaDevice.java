package org.softrdma.sim.device;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.AddressText;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.Transport;
import org.softrdma.sim.engine.DeviceMemory;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.PeerQuestion;
import org.softrdma.sim.link.QueuePairNumbers;
import org.softrdma.sim.link.Wire;
import org.softrdma.sim.memory.ForeignMemory;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.NumberReuse;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.pinning.PinTable;
import org.softrdma.sim.queue.AsyncEvents;
import org.softrdma.sim.queue.Progress;
import org.softrdma.sim.queue.SoftCompletionChannel;
import org.softrdma.sim.queue.SoftCompletionQueue;
import org.softrdma.sim.queue.SoftSharedReceiveQueue;
import org.softrdma.sim.roce.cm.CmPort;
import org.softrdma.sim.samehost.SameHost;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SharedReceiveQueue;
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
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.DomainContents;

/**
 * The software RNIC as a verbs device: an engine on each loop of a transport, one stag table, and the application's
 * objects.
 */
public final class SoftRdmaDevice implements VerbsDevice {
    private static final AtomicInteger NEXT_DEVICE = new AtomicInteger();
    private static final byte[] NO_DATA = {};
    private static final int CLOSED = -1;
    /** A constant, which is linked when there is memory. */
    @SuppressWarnings("UnnecessaryLambda")
    private static final IntUnaryOperator ONE_MORE_WHILE_OPEN = count -> count < 0 ? count : count + 1;

    private static final int CLOSE_TIMEOUT_SECONDS = 10;
    /** How long a device that is closed waits for peers to hear of it: for two repetitions. */
    private static final long FAREWELL_NS = 350_000_000;

    /** Maximum number of prefetches that wait for their turn. */
    private static final int PREFETCHES = 64;

    private static final int MAX_WORK_REQUESTS = 1 << 16;
    private static final int MAX_INLINE = 1024;
    private static final long MAX_MESSAGE = 1L << 31;
    /** As many as there is memory for: nothing of them is the device's. */
    private static final int MAX_ADDRESS_HANDLES = Integer.MAX_VALUE;

    private static final Set<Feature> OF_ROCE = EnumSet.of(
            Feature.SEND_IMMEDIATE,
            Feature.CONNECTION_BY_ADDRESS,
            Feature.UNRELIABLE_CONNECTION,
            Feature.UNRELIABLE_DATAGRAM,
            Feature.DATAGRAM_SERVICES);

    private static final Map<AccessFlag, Feature> FEATURES_OF_FLAGS = Map.of(
            AccessFlag.REMOTE_ATOMIC, Feature.ATOMICS,
            AccessFlag.ZERO_BASED, Feature.ZERO_BASED,
            AccessFlag.POLLED, Feature.ORDERED_PLACEMENT,
            AccessFlag.BIND_WINDOWS, Feature.MEMORY_WINDOWS);

    private final String name;
    private final Transport transport;
    private final boolean manual;
    private final List<RnicEngine> engines = new ArrayList<>();
    private final Wire wire;
    private final StagTable stags;
    private final Registrar registrar;
    /** Null if it takes no part. */
    private final @Nullable SameHost sameHost;

    private final MemoryOperations memory;
    private final PinTable pins;
    private final ExecutorService prefetcher;
    private final Capabilities capabilities;
    private final DeviceProfile profile;
    private final AsyncEvents events;
    /** Number of open objects of this device, or {@link #CLOSED}. */
    private final AtomicInteger children = new AtomicInteger();

    private final Closing closing = new Closing();

    private final AtomicInteger nextDomain = new AtomicInteger(1);
    private final QueuePairFactory queuePairs;
    private final DeviceHabits.CompletionQueues completionQueues;

    /**
     * Opens a device; in manual mode the calling thread owns it.
     *
     * @param settings how it is made
     * @param transport byte streams, closed with the device
     */
    public SoftRdmaDevice(DeviceSettings settings, Transport transport) {
        this(settings, transport, DeviceEnvironment.ofThisProcess());
    }

    /**
     * Opens a device; in manual mode the calling thread owns it.
     *
     * @param settings how it is made
     * @param transport byte streams, closed with the device
     * @param environment what it takes from the process
     */
    public SoftRdmaDevice(DeviceSettings settings, Transport transport, DeviceEnvironment environment) {
        this.transport = transport;
        FirstUse.prepare(transport.name(), settings.wire().initialised());
        memory = environment.memory();
        NumberReuse reuse = environment.habits().reuse();
        QueuePairNumbers numbers = new QueuePairNumbers(1, reuse);
        completionQueues = environment.habits().completionQueues();
        manual = settings.manualProgress();
        name = "sim" + NEXT_DEVICE.getAndIncrement() + " (" + transport.name() + ", " + (manual ? "manual" : "engine")
                + ")";
        prefetcher = prefetcher(name);
        EventLoop first = transport.loops().getFirst();
        stags = new StagTable(settings.maxRegions(), environment.random(), memory, reuse);
        Quiescence quiescence =
                first.waits().map(waits -> new Quiescence(waits::idle)).orElseGet(Quiescence::new);
        pins = new PinTable(settings.pinning(), environment.pageLocks(), quiescence, machineBytes(), first.clock());
        DeviceMemory shared = new DeviceMemory(stags, pins, quiescence, memory);
        for (EventLoop loop : transport.loops()) {
            engines.add(new RnicEngine(loop, manual, shared, settings.engine()));
        }
        wire = settings.wire().open(engines, environment.random(), numbers);
        SameHost.Mode mode = first.waits().isPresent() ? SameHost.Mode.OFF : settings.sameHost();
        try {
            sameHost = SameHost.of(name, mode, stags, quiescence, memory).orElse(null);
        } catch (RuntimeException | Error e) {
            stags.close();
            throw e;
        }
        registrar = new Registrar(
                stags, quiescence, pins, environment.regions(), environment.quota(), settings.maxRegions());
        profile = settings.profile();
        capabilities = profile.within(own(settings.maxRegions()));
        events = new AsyncEvents(progress());
        queuePairs = new QueuePairFactory(
                new QueuePairFactory.Parts(name, progress(), capabilities, stags, events, wire, sameHost),
                numbers,
                environment.quota());
    }

    /** Memory of the machine, or of the container that the process is confined to. */
    private static long machineBytes() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
    }

    private Set<Feature> features() {
        Set<Feature> features = EnumSet.noneOf(Feature.class);
        features.addAll(wire.features());
        if (pins.canBeLazy()) {
            features.add(Feature.LAZY_PINNING);
        }
        return features;
    }

    private Capabilities own(int maxRegions) {
        return Capabilities.builder("sim", wire.description())
                .maxSendWorkRequests(MAX_WORK_REQUESTS)
                .maxReceiveWorkRequests(MAX_WORK_REQUESTS)
                .maxScatterGather(wire.maxScatterGather())
                .maxScatterGatherRead(wire.maxScatterGatherRead())
                .maxInline(MAX_INLINE)
                .maxCompletionQueueEntries(SoftCompletionQueue.MAX_ENTRIES)
                .maxMemoryRegions(maxRegions)
                .maxRegionLength(Long.MAX_VALUE)
                .maxMessageLength(MAX_MESSAGE)
                .maxOutboundReads(wire.maxReads())
                .maxInboundReads(wire.maxReads())
                .maxSharedReceiveWorkRequests(MAX_WORK_REQUESTS)
                .maxMemoryWindows(maxRegions)
                .maxPrivateData(wire.maxPrivateData())
                .maxTransferUnit(wire.maxTransferUnit())
                .maxAddressHandles(wire.features().contains(Feature.UNRELIABLE_DATAGRAM) ? MAX_ADDRESS_HANDLES : 0)
                .features(features())
                .build();
    }

    Registrar registrar() {
        return registrar;
    }

    Progress progress() {
        return firstEngine();
    }

    RnicEngine firstEngine() {
        return engines.getFirst();
    }

    /** A listener ends. */
    void stoppedListening(InetSocketAddress address) {
        if (sameHost != null) {
            sameHost.stoppedListening(address);
        }
    }

    /** Makes something that this device counts until it calls {@link #childClosed}. */
    private <T> T child(Supplier<T> made, String what) {
        return Creation.counted(this::childOpened, made, this::childClosed, what);
    }

    void childOpened() {
        if (children.getAndUpdate(ONE_MORE_WHILE_OPEN) < 0) {
            throw closed();
        }
    }

    private void checkOpen() {
        if (children.get() < 0) {
            throw closed();
        }
    }

    private IllegalStateException closed() {
        return new IllegalStateException(name + " is closed");
    }

    void childClosed() {
        children.decrementAndGet();
    }

    /** Makes its queue pairs. */
    QueuePairFactory queuePairs() {
        return queuePairs;
    }

    AddressHandle addressHandle(
            ProtectionDomain domain, @Nullable InetAddress local, InetSocketAddress host, Runnable onClose) {
        if (host.isUnresolved()) {
            throw new VerbsException(VerbsErrorCode.UNREACHABLE, "unknown host " + host.getHostString());
        }
        return wire.addressHandle(domain, local, host, onClose);
    }

    /** Refuses a region that is too long, and flags of features that this device lacks. */
    void checkOffered(long length, Set<AccessFlag> access) {
        if (length > capabilities.maxRegionLength()) {
            throw new IllegalArgumentException(
                    "length=" + length + ": expected 1 to " + capabilities.maxRegionLength() + " bytes");
        }
        for (AccessFlag flag : access) {
            Feature needed = FEATURES_OF_FLAGS.get(flag);
            if (needed != null) {
                require(needed, "access=" + access);
            }
        }
    }

    /**
     * Refuses what needs a feature that this device lacks.
     *
     * @param feature needed
     * @param what was asked for
     */
    void require(Feature feature, String what) {
        if (!capabilities.has(feature)) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED, what + ": this device has no " + feature + "; " + remedy(feature));
        }
    }

    private String remedy(Feature feature) {
        if (profile != DeviceProfile.NONE) {
            return "profile=" + profile;
        }
        return OF_ROCE.contains(feature) ? "open it with wire=roce" : "open it with rfc7306=on";
    }

    private void checkVersion(InetSocketAddress address) {
        if (address.getAddress() instanceof Inet6Address) {
            require(Feature.IPV6, "address " + address);
        }
    }

    SharedReceiveQueue createSharedReceiveQueue(SoftProtectionDomain domain, SoftSharedReceiveQueue.Size size) {
        check("maxWorkRequests", size.maxWorkRequests(), capabilities.maxSharedReceiveWorkRequests());
        check("maxScatterGather", size.maxScatterGather(), capabilities.maxScatterGather());
        Runnable closed = () -> domain.closed(DomainContents.Kind.SHARED_RECEIVE_QUEUE);
        return Creation.counted(
                () -> domain.opened(DomainContents.Kind.SHARED_RECEIVE_QUEUE),
                () -> new SoftSharedReceiveQueue(
                        size, domain, domain.number(), capabilities, progress(), events, closed),
                closed,
                "a shared receive queue of " + size);
    }

    private static void check(String what, int asked, int most) {
        if (asked < 1 || asked > most) {
            throw new IllegalArgumentException(what + "=" + asked + ": expected 1 to " + most);
        }
    }

    /** What a side wants, within the limits of this device. */
    ConnectionParameters clamp(ConnectionParameters parameters) {
        int length = parameters.privateData().length;
        checkPrivateData(length);
        return new ConnectionParameters(
                Math.min(parameters.outboundReads(), capabilities.maxOutboundReads()),
                Math.min(parameters.inboundReads(), capabilities.maxInboundReads()),
                parameters.privateData());
    }

    /**
     * What the application gets of a peer's private data: nothing on a device that has none.
     *
     * @param data what has come
     */
    byte[] shown(byte[] data) {
        return capabilities.maxPrivateData() == 0 ? NO_DATA : data;
    }

    void checkPrivateData(int length) {
        if (length > capabilities.maxPrivateData()) {
            throw new IllegalArgumentException(
                    "private data of " + length + " bytes: expected at most " + capabilities.maxPrivateData());
        }
    }

    /**
     * Registers memory of another process: the entrance for programs that are not of this JVM. Peers, scatter/gather
     * entries, windows and reregistration use it as any other. What the process has taken back, or may not be written
     * there, fails when it is used: LOCAL_PROTECTION_ERROR for requests of this side, REMOTE_ACCESS_ERROR for those of a
     * peer. Nothing is pinned; atomics are whole towards other requests to this device, not towards the process.
     *
     * <p>INLINE is for memory of this JVM only: it is copied when it is posted, by its address.
     *
     * @param domain of this device
     * @param memory of the process, of which the first and last byte can be read
     * @param base its first address as entries and peers name it, for ibv_reg_mr(3) its address there
     * @param access rights; neither POLLED nor ZERO_BASED
     * @throws VerbsException {@code NOT_SUPPORTED} if the wire is not RoCEv2, {@code NOT_PERMITTED} if the memory cannot
     *     be read
     */
    public MemoryRegion register(ProtectionDomain domain, ForeignMemory memory, long base, Set<AccessFlag> access) {
        SoftProtectionDomain mine = mine(domain);
        if (!wire.takesForeignMemory()) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "memory of " + memory + ": " + wire.description()
                            + " sends memory by its address in this process; open the device with wire=roce");
        }
        return mine.register(memory, base, access);
    }

    /**
     * RECVs that are not posted but asked for, because they are in memory that a program fills: whenever a message finds no
     * RECV, and when RECVs are flushed.
     *
     * @param pair of this device, in INITIAL or RESET, with a receive queue of its own
     * @param supplier posts some to it, if there are some; on the engine's thread
     */
    public void supplyReceives(UnconnectedQueuePair pair, Runnable supplier) {
        unconnected(pair).suppliedBy(supplier);
    }

    /**
     * Moves a queue pair to another address of this host (C: {@code sgid_index}), which its {@link
     * UnconnectedQueuePair#address} then tells.
     *
     * @param pair of this device, in INITIAL, not of datagrams
     * @param local an address of this host
     * @throws VerbsException if it can have no UDP port there
     */
    public void useAddress(UnconnectedQueuePair pair, InetAddress local) {
        unconnected(pair).useAddress(local);
    }

    /**
     * Lets a queue pair go on with its peer by other terms, without another state and also with what is on its way (C: {@code
     * ibv_modify_qp} within {@code IBV_QPS_SQD} and {@code IBV_QPS_RTS}).
     *
     * @param pair of this device, READY_TO_SEND or in SEND_QUEUE_DRAIN, not of datagrams
     * @param receives where the peer is, READs that are served, timer; its number and sequence stay as they are
     * @param sends READs, times and retries; no sequence
     * @throws IllegalArgumentException if the peer's address is of another family than that of this queue pair
     */
    public void change(UnconnectedQueuePair pair, ReceiveAttributes receives, SendAttributes sends) {
        unconnected(pair).change(receives, sends);
    }

    /**
     * Lets a queue pair of datagrams take them at another address of this host, too, under the same UDP port.
     *
     * @param pair of this device, of datagrams, in RESET
     * @param local an address of this host
     * @throws VerbsException if another device has that port there
     */
    public void alsoUseAddress(UnconnectedQueuePair pair, InetAddress local) {
        unconnected(pair).alsoUseAddress(local);
    }

    /**
     * Lets a queue pair of datagrams take what comes to a multicast group at UDP port 4791 (C: {@code ibv_attach_mcast}), until
     * it leaves the group or is closed. On epoll.
     *
     * @param pair of this device, of datagrams
     * @param locals addresses of this host by whose interfaces it comes, of the same family
     * @throws VerbsException if the group cannot be joined
     */
    public void join(UnconnectedQueuePair pair, InetAddress group, List<InetAddress> locals) {
        unconnected(pair).join(group, locals);
    }

    /**
     * Ends that.
     *
     * @return false if it had not joined
     */
    public boolean leave(UnconnectedQueuePair pair, InetAddress group) {
        return unconnected(pair).leave(group);
    }

    /**
     * Sets the key that datagrams must carry (C: {@code IBV_QP_QKEY}).
     *
     * @param pair of this device, of datagrams
     */
    public void useQueueKey(UnconnectedQueuePair pair, int key) {
        unconnected(pair).useQueueKey(key);
    }

    /**
     * A way to a host from an address of this one (C: {@code sgid_index}).
     *
     * @param domain of this device
     * @param local an address of this host, of the same family
     * @param host address and UDP port of the peers' device
     */
    public AddressHandle createAddressHandle(ProtectionDomain domain, InetAddress local, InetSocketAddress host) {
        return mine(domain).createAddressHandle(local, host);
    }

    /**
     * A window of type 1 (C: {@code IBV_MW_TYPE_1}): every peer of the domain can use it, it may be bound while it is bound,
     * and is not by a bind of no bytes.
     */
    public MemoryWindow allocateSharedWindow(ProtectionDomain domain) {
        return mine(domain).allocateWindow(true);
    }

    /**
     * Chooses the key of the next bind of a window that is posted (C: {@code bind_mw.rkey}).
     *
     * @param window of this device
     * @param key not 0; if it is another's when the window is bound, that fails
     * @param zeroBased peers name its first byte 0 (C: {@code IBV_ACCESS_ZERO_BASED})
     */
    public void chooseKey(MemoryWindow window, int key, boolean zeroBased) {
        if (!(window instanceof SoftMemoryWindow mine) || key == 0) {
            throw new IllegalArgumentException(
                    window + ", key=" + key + ": expected a window of this device, and a key");
        }
        mine.choose(key, zeroBased);
    }

    /**
     * The connection manager at an address of this host, for queue pairs of {@link ProtectionDomain#createQueuePair} that are to
     * be connected by it. Manual progress: the owner calls it and hears of what it tells, in turns of {@link #progress}.
     *
     * @param local an address of this host
     * @throws VerbsException if there is no UDP port to be had
     */
    public CmPort connectionManager(InetAddress local) {
        progress().checkThread();
        require(Feature.CONNECTION_BY_ADDRESS, "connectionManager");
        CmPort[] found = new CmPort[1];
        onFirstLoop(() -> found[0] = wire.managerAt(local));
        return found[0];
    }

    /**
     * {@link #progress} waits for a descriptor, too: for one thread that drives this device and something else. Manual progress
     * on epoll.
     *
     * @param descriptor that stays open as long as the device
     * @param readable what is done, in each turn, while it can be read, or is the end of a pipe that nobody reads
     * @return ends it, before the descriptor is closed
     */
    public Runnable watch(int descriptor, Runnable readable) {
        EventLoop.Cancellable[] watched = new EventLoop.Cancellable[1];
        onFirstLoop(() -> watched[0] = firstEngine().loop().watch(descriptor, readable));
        return watched[0]::cancel;
    }

    /** The oldest asynchronous event, without a turn of the device. */
    public Optional<AsyncEvent> pollEvent() {
        progress().checkThread();
        return events.poll();
    }

    private SoftProtectionDomain mine(ProtectionDomain domain) {
        if (domain instanceof SoftProtectionDomain mine && mine.isOf(stags)) {
            return mine;
        }
        throw new IllegalArgumentException("the protection domain belongs to another device");
    }

    private static UnconnectedSoftQueuePair unconnected(UnconnectedQueuePair pair) {
        if (pair instanceof UnconnectedSoftQueuePair mine) {
            return mine;
        }
        throw new IllegalArgumentException(pair + ": expected a queue pair of this device");
    }

    // ---- VerbsDevice

    @Override
    public String name() {
        return name;
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public boolean manualProgress() {
        return manual;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        progress().checkThread();
        return child(() -> new SoftProtectionDomain(this, nextDomain.getAndIncrement()), "a protection domain");
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        progress().checkThread();
        return child(() -> new SoftCompletionChannel(progress(), this::childClosed), "a completion channel");
    }

    @Override
    public CompletionQueue createCompletionQueue(int minimumEntries) {
        return createCompletionQueue(minimumEntries, null);
    }

    @Override
    public CompletionQueue createCompletionQueue(int minimumEntries, CompletionChannel channel, int completionVector) {
        if (completionVector < 0 || completionVector >= capabilities.completionVectors()) {
            throw new IllegalArgumentException("completionVector=" + completionVector + ": expected 0 to "
                    + (capabilities.completionVectors() - 1));
        }
        if (!(channel instanceof SoftCompletionChannel mine) || !mine.isOf(progress())) {
            throw new IllegalArgumentException("the completion channel belongs to another device, not to " + name);
        }
        return createCompletionQueue(minimumEntries, mine);
    }

    private CompletionQueue createCompletionQueue(int minimumEntries, @Nullable SoftCompletionChannel channel) {
        progress().checkThread();
        check("minimumEntries", minimumEntries, capabilities.maxCompletionQueueEntries());
        return child(
                () -> newCompletionQueue(minimumEntries, channel),
                "a completion queue of " + minimumEntries + " entries");
    }

    private SoftCompletionQueue newCompletionQueue(int minimumEntries, @Nullable SoftCompletionChannel channel) {
        SoftCompletionQueue made = completionQueues.create(minimumEntries, progress(), channel, this::childClosed);
        made.tell(events);
        made.mayResizeTo(capabilities.has(Feature.QUEUE_RESIZE) ? capabilities.maxCompletionQueueEntries() : 0);
        return made;
    }

    @Override
    public Optional<AsyncEvent> awaitEvent(long timeoutNs) {
        require(Feature.ASYNC_EVENTS, "awaitEvent");
        return events.await(timeoutNs);
    }

    @Override
    public HostMemory allocateMemory(long length) {
        return allocateMemory(length, new MemorySource.Anonymous());
    }

    @Override
    public HostMemory allocateMemory(long length, MemorySource source) {
        return source instanceof MemorySource.Shareable && sameHost != null
                ? sameHost.allocate(length)
                : memory.allocateForApplication(length, source);
    }

    @Override
    public String pinning() {
        return pins.description();
    }

    @Override
    public PinningCounters pinningCounters() {
        return pins.counters();
    }

    /** Prefetches soon, or never if much is to be prefetched already. */
    void prefetchLater(Runnable prefetch) {
        prefetcher.execute(prefetch);
    }

    private static ExecutorService prefetcher(String device) {
        ThreadPoolExecutor one = new ThreadPoolExecutor(
                1,
                1,
                1,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(PREFETCHES),
                task -> Thread.ofPlatform().daemon().name(device + " prefetch").unstarted(task),
                new ThreadPoolExecutor.DiscardPolicy());
        one.allowCoreThreadTimeOut(true);
        return one;
    }

    @Override
    public Listener listen(InetSocketAddress local, int backlog) {
        progress().checkThread();
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog=" + backlog + ": expected at least 1");
        }
        if (local.isUnresolved()) {
            throw new VerbsException(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, "unknown host " + local.getHostString());
        }
        checkVersion(local);
        SoftListener listener = opened(local, backlog);
        try {
            if (sameHost != null) {
                sameHost.listening(listener.localAddress());
            }
            return listener;
        } catch (Throwable e) {
            listener.close();
            throw e;
        }
    }

    private SoftListener opened(InetSocketAddress local, int backlog) {
        childOpened();
        try {
            SoftListener listener = new SoftListener(this, backlog);
            onFirstLoop(() -> listener.open(wire, local));
            return listener;
        } catch (Throwable e) {
            childClosed();
            throw e;
        }
    }

    @Override
    public Connector resolve(InetSocketAddress remote, long timeoutNs) {
        progress().checkThread();
        if (remote.isUnresolved()) {
            throw new VerbsException(VerbsErrorCode.UNREACHABLE, "unknown host " + remote.getHostString());
        }
        checkVersion(remote);
        checkOpen();
        return new SoftConnector(this, wire.connector(remote), remote);
    }

    @Override
    public DatagramService resolveDatagrams(InetSocketAddress service, byte[] privateData, long timeoutNs) {
        progress().checkThread();
        require(Feature.DATAGRAM_SERVICES, "resolveDatagrams");
        checkPrivateData(privateData.length);
        if (service.isUnresolved()) {
            throw new VerbsException(VerbsErrorCode.UNREACHABLE, "unknown host " + service.getHostString());
        }
        checkOpen();
        CompletableFuture<DatagramService> found = wire.resolveDatagrams(service, privateData.clone());
        return Waiting.establish(found, progress(), timeoutNs, "the answer of " + AddressText.of(service), reason -> {
            boolean ignored = found.completeExceptionally(new VerbsException(VerbsErrorCode.TIMED_OUT, reason));
        });
    }

    @Override
    public DatagramListener listenForDatagrams(InetSocketAddress local, DatagramService offered) {
        require(Feature.DATAGRAM_SERVICES, "listenForDatagrams");
        checkPrivateData(offered.privateData().length);
        Predicate<PeerQuestion> answer = question -> question.accept(offered);
        return listening(local, () -> {
            SoftDatagramListener listener = new SoftDatagramListener(firstEngine(), this::childClosed);
            onFirstLoop(() -> listener.open(wire, local, answer));
            return listener;
        });
    }

    @Override
    public DatagramRequestListener listenForDatagramRequests(InetSocketAddress local, int backlog) {
        require(Feature.DATAGRAM_SERVICES, "listenForDatagramRequests");
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog=" + backlog + ": expected at least 1");
        }
        return listening(local, () -> {
            SoftDatagramRequestListener listener =
                    new SoftDatagramRequestListener(firstEngine(), backlog, this::checkPrivateData, this::childClosed);
            onFirstLoop(() -> listener.open(wire, local, listener::asked));
            return listener;
        });
    }

    private <T> T listening(InetSocketAddress local, Supplier<T> listener) {
        progress().checkThread();
        if (local.isUnresolved()) {
            throw new VerbsException(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, "unknown host " + local.getHostString());
        }
        return child(listener, "a listener for datagrams");
    }

    /** Runs something on the first loop and waits for it. */
    void onFirstLoop(RnicEngine.Task task) {
        Waiting.onLoop(engines.getFirst(), task);
    }

    @Override
    public int progress(long timeoutNs) {
        if (!manual) {
            return 0;
        }
        progress().checkThread();
        return engines.getFirst().run(timeoutNs);
    }

    @Override
    public void wakeUp() {
        if (manual) {
            engines.getFirst().wakeUp();
        }
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> snapshot = new TreeMap<>();
        engines.forEach(engine -> engine.counters().addTo(snapshot));
        wire.addTo(snapshot);
        if (sameHost != null) {
            sameHost.addTo(snapshot);
        }
        snapshot.put("memoryRegions", (long) stags.live());
        snapshot.put("memoryWindows", (long) registrar.windows());
        snapshot.put("openSockets", (long) transport.openSockets());
        PinningCounters pinning = pins.counters();
        snapshot.put("pinning.registeredBytes", pinning.registeredBytes());
        snapshot.put("pinning.pinnedBytes", pinning.pinnedBytes());
        snapshot.put("pinning.highWaterBytes", pinning.highWaterBytes());
        snapshot.put("pinning.firstTouches", pinning.firstTouches());
        snapshot.put("pinning.pins", pinning.pins());
        snapshot.put("pinning.unpins", pinning.unpins());
        snapshot.put("pinning.evictions", pinning.evictions());
        snapshot.put("pinning.unpinnedAccesses", pinning.unpinnedAccesses());
        snapshot.put("pinning.ns", pinning.pinningNs());
        snapshot.put("pinning.budgetBytes", pins.budgetBytes());
        return snapshot;
    }

    @Override
    public void close() {
        progress().checkThread();
        closing.once(() -> {
            try {
                destroy();
            } catch (Throwable e) {
                closing.stillOpen();
                throw e;
            }
        });
    }

    private void destroy() {
        int live = children.compareAndExchange(0, CLOSED);
        if (live > 0) {
            throw new VerbsException(
                    VerbsErrorCode.BUSY,
                    live + " protection domains, completion queues and channels or listeners of " + name
                            + " are still open");
        }
        prefetcher.shutdownNow();
        try {
            awaitPeers();
            endConnections();
            transport.close();
        } catch (IllegalStateException e) {
            // The loops still run, so nothing may be freed: closing may be tried again.
            children.set(0);
            throw e;
        }
        events.close();
        if (sameHost != null) {
            sameHost.close();
        }
        stags.close();
    }

    /** What tells a peer of the end may be lost, and nobody repeats it once this device is closed. */
    private void awaitPeers() {
        CompletableFuture<Void> known = wire.peersKnow();
        if (known.isDone()) {
            return;
        }
        if (!progress().isThreaded()) {
            boolean ignored = progress().runUntil(known::isDone, FAREWELL_NS);
        } else {
            known.completeOnTimeout(null, FAREWELL_NS, TimeUnit.NANOSECONDS).join();
        }
    }

    /** While the loops still take tasks: what one registers while it stops is never closed. */
    private void endConnections() {
        CompletableFuture<?>[] ended = engines.stream().map(RnicEngine::end).toArray(CompletableFuture[]::new);
        CompletableFuture<Void> all = CompletableFuture.allOf(ended);
        if (!progress().isThreaded()) {
            progress().settle(all);
        }
        Throwable failure = all.orTimeout(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
                .handle((done, e) -> e)
                .join();
        if (failure != null) {
            throw new IllegalStateException(
                    "connections were not closed within " + CLOSE_TIMEOUT_SECONDS
                            + " s; a callback may be blocking an event loop",
                    failure);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
