package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.softrdma.nativeverbs.Transport;
import org.softrdma.nativeverbs.device.ConnectionManager;
import org.softrdma.nativeverbs.device.NativeCompletionChannel;
import org.softrdma.nativeverbs.device.NativeCompletionQueue;
import org.softrdma.nativeverbs.device.NativeDevice;
import org.softrdma.nativeverbs.device.NativeProtectionDomain;
import org.softrdma.nativeverbs.device.NativeQueuePair;
import org.softrdma.nativeverbs.device.QueuePairParts;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;

/** A context of librdmacm as a verbs device. Several devices may share one context. Thread-safe. */
public final class CoreDevice extends NativeDevice {
    private final VerbsLibrary library;
    private final DeviceList devices;
    private final long context;
    private final CoreDeviceProbe probe;
    private final VerbsLibrary.Operations operations;
    private final Optional<InetSocketAddress> address;
    private final SharedContext shared;
    private final CoreConnectionManager manager;
    private final LongAdder deviceErrors = new LongAdder();
    private final LongAdder portErrors = new LongAdder();
    /** {@code struct ibv_qp_attr} with {@code IBV_QPS_ERR}; read only. */
    private final Arena arena = Arena.ofShared();

    private final long errorState;

    /**
     * Opens a device.
     *
     * @param provider name of the provider
     * @param library C functions
     * @param devices of which it is one, closed with this device
     * @param context its context
     * @param address the address from which to connect, with port 0; empty: as routes say
     */
    public CoreDevice(
            String provider,
            VerbsLibrary library,
            DeviceList devices,
            long context,
            Optional<InetSocketAddress> address) {
        this.library = library;
        this.devices = devices;
        this.context = context;
        this.address = address;
        operations = library.operations(context);
        probe = CoreDeviceProbe.of(provider, library, context, operations);
        errorState =
                arena.allocate(VerbsAbi.QUEUE_PAIR_ATTRIBUTES_BYTES, Long.BYTES).address();
        CMemory.putInt(errorState, VerbsAbi.STATE_ERROR);
        shared = SharedContext.join(this);
        try {
            manager = new CoreConnectionManager(this);
        } catch (RuntimeException e) {
            shared.leave(this);
            arena.close();
            throw e;
        }
        manager.start("rdma-cm-" + probe.name());
    }

    /**
     * Name of the device of a context, as the kernel knows it.
     *
     * @param context of a {@link DeviceList}
     */
    public static String deviceName(long context) {
        return CoreDeviceProbe.nameOf(context);
    }

    // ---- for the objects of this package

    VerbsLibrary library() {
        return library;
    }

    VerbsLibrary.Operations operations() {
        return operations;
    }

    long context() {
        return context;
    }

    /** From which to connect, with port 0; empty: as routes say. */
    Optional<InetSocketAddress> address() {
        return address;
    }

    SharedContext shared() {
        return shared;
    }

    /** {@code IBV_EVENT_DEVICE_FATAL}. */
    void deviceFailed() {
        deviceErrors.increment();
    }

    /** {@code IBV_EVENT_PORT_ERR}. */
    void portFailed() {
        portErrors.increment();
    }

    /** {@code ibv_modify_qp} to {@code IBV_QPS_ERR}; a queue pair that cannot is there already or has no connection. */
    void moveToError(long queuePair) {
        library.modifyQueuePair(queuePair, errorState, VerbsAbi.MODIFY_STATE);
    }

    // ---- NativeDevice

    @Override
    public boolean isIwarp() {
        return probe.transport() == Transport.IWARP;
    }

    @Override
    public boolean isSoftIwarp() {
        return probe.softIwarp();
    }

    @Override
    protected Set<Feature> connectionFeatures() {
        return probe.transport().connectionFeatures();
    }

    @Override
    protected ConnectionManager connections() {
        return manager;
    }

    @Override
    protected NativeProtectionDomain newProtectionDomain() {
        return new CoreProtectionDomain(this);
    }

    @Override
    protected NativeCompletionChannel newCompletionChannel() {
        return new CoreCompletionChannel(this);
    }

    @Override
    protected NativeCompletionQueue newCompletionQueue(
            int minimumEntries, @Nullable NativeCompletionChannel channel, int vector) {
        return CoreCompletionQueue.create(this, minimumEntries, (CoreCompletionChannel) channel, vector);
    }

    @Override
    protected NativeQueuePair newQueuePair(QueuePairParts parts) {
        return CoreQueuePair.create(this, parts);
    }

    @Override
    protected InetSocketAddress listenAddress(InetSocketAddress local) {
        return local;
    }

    @Override
    protected void destroy() {
        manager.close();
        shared.leave(this);
        arena.close();
        devices.close();
    }

    // ---- VerbsDevice

    @Override
    public String name() {
        return probe.name() + " (rdma-core, " + probe.capabilities().transport() + ")";
    }

    @Override
    public Capabilities capabilities() {
        return probe.capabilities();
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> counters = new HashMap<>(super.counters());
        counters.put("deviceErrors", deviceErrors.sum());
        counters.put("portErrors", portErrors.sum());
        return Map.copyOf(counters);
    }
}
