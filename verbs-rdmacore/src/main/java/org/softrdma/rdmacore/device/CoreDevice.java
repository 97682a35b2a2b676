package org.softrdma.rdmacore.device;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.ibverbs.device.ConnectionManager;
import org.softrdma.ibverbs.device.IbvCompletionChannel;
import org.softrdma.ibverbs.device.IbvCompletionQueue;
import org.softrdma.ibverbs.device.IbvDevice;
import org.softrdma.ibverbs.device.IbvProtectionDomain;
import org.softrdma.ibverbs.device.IbvQueuePair;
import org.softrdma.ibverbs.device.QueuePairParts;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;

/** A context of librdmacm as a verbs device. Several devices may share one context. Thread-safe. */
public final class CoreDevice extends IbvDevice {
    private final DeviceContext context;
    private final DeviceList devices;
    private final CoreConnectionManager manager;

    /**
     * Opens a device.
     *
     * @param provider name of the provider
     * @param library C functions
     * @param devices list that contains it, closed with this device
     * @param address the address to connect from, with port 0; empty to let routing choose
     */
    public CoreDevice(
            String provider,
            VerbsLibrary library,
            DeviceList devices,
            long context,
            Optional<InetSocketAddress> address) {
        this.devices = devices;
        this.context = new DeviceContext(provider, library, context, address, opened().events());
        try {
            manager = new CoreConnectionManager(this.context);
        } catch (RuntimeException e) {
            this.context.close();
            throw e;
        }
        manager.start("rdma-cm-" + this.context.probe().name());
    }

    /**
     * The kernel's name of a context's device.
     *
     * @param context of a {@link DeviceList}
     */
    public static String deviceName(long context) {
        return ContextProbe.nameOf(context);
    }

    // ---- IbvDevice

    @Override
    public boolean isIwarp() {
        return context.probe().transport() == WireProtocol.IWARP;
    }

    @Override
    public boolean isSoftIwarp() {
        return context.isSoftIwarp();
    }

    @Override
    public Set<Feature> connectionFeatures() {
        return context.probe().transport().connectionFeatures();
    }

    @Override
    protected ConnectionManager connections() {
        return manager;
    }

    @Override
    protected IbvProtectionDomain newProtectionDomain() {
        return new CoreProtectionDomain(context, opened());
    }

    @Override
    protected IbvCompletionChannel newCompletionChannel() {
        return new CoreCompletionChannel(context, opened());
    }

    @Override
    protected IbvCompletionQueue newCompletionQueue(
            int minimumEntries, @Nullable IbvCompletionChannel channel, int vector) {
        return CoreCompletionQueue.create(context, opened(), minimumEntries, (CoreCompletionChannel) channel, vector);
    }

    @Override
    protected IbvQueuePair newQueuePair(QueuePairParts parts) {
        return CoreQueuePair.create(context, parts);
    }

    @Override
    protected InetSocketAddress listenAddress(InetSocketAddress local) {
        return local;
    }

    @Override
    protected void destroy() {
        manager.close();
        context.close();
        devices.close();
    }

    // ---- VerbsDevice

    @Override
    public String name() {
        return context.name();
    }

    @Override
    public Capabilities capabilities() {
        return context.capabilities();
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> counters = new HashMap<>(super.counters());
        counters.put("deviceErrors", context.faults().deviceErrors());
        counters.put("portErrors", context.faults().portErrors());
        return Map.copyOf(counters);
    }
}
