package org.softrdma.disni.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.nativeverbs.Transport;
import org.softrdma.nativeverbs.device.ConnectionManager;
import org.softrdma.nativeverbs.device.NativeCompletionChannel;
import org.softrdma.nativeverbs.device.NativeCompletionQueue;
import org.softrdma.nativeverbs.device.NativeDevice;
import org.softrdma.nativeverbs.device.NativeProtectionDomain;
import org.softrdma.nativeverbs.device.NativeQueuePair;
import org.softrdma.nativeverbs.device.QueuePairParts;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;

/**
 * A context of DiSNI, kept by an id that is bound to one address, as a verbs device. A wildcard to listen on means this address, the only
 * one that DiSNI has a context for. Thread-safe.
 */
public final class DisniDevice extends NativeDevice {
    private final DeviceProbe probe;
    private final DisniConnectionManager manager;

    private DisniDevice(DeviceProbe probe) {
        this.probe = probe;
        manager = new DisniConnectionManager(this, probe.channel());
    }

    /**
     * Opens a device.
     *
     * @param probe what was found, closed with this device
     */
    public static DisniDevice open(DeviceProbe probe) {
        DisniDevice device = new DisniDevice(probe);
        device.manager.start("disni-cm-" + probe.name());
        return device;
    }

    /** Its address, with port 0. */
    InetSocketAddress anyPort() {
        return new InetSocketAddress(probe.address(), 0);
    }

    // ---- NativeDevice

    @Override
    public boolean isIwarp() {
        return probe.transport().map(transport -> transport == Transport.IWARP).orElse(true);
    }

    @Override
    public boolean isSoftIwarp() {
        return probe.siwGuard().isPresent();
    }

    @Override
    protected Set<Feature> connectionFeatures() {
        return capabilities().features();
    }

    @Override
    protected ConnectionManager connections() {
        return manager;
    }

    @Override
    protected NativeProtectionDomain newProtectionDomain() {
        return new DisniProtectionDomain(
                this, DisniErrors.make(probe.context()::allocateDomain, "a protection domain"));
    }

    @Override
    protected NativeCompletionChannel newCompletionChannel() {
        return new DisniCompletionChannel(this);
    }

    @Override
    protected NativeCompletionQueue newCompletionQueue(
            int minimumEntries, @Nullable NativeCompletionChannel channel, int vector) {
        DisniLibrary.Queue queue = DisniErrors.make(
                () -> probe.context().createQueue(minimumEntries, vector),
                minimumEntries + " entries, completion vector " + vector + "; ask for fewer, or close some");
        return new DisniCompletionQueue(this, queue, minimumEntries, (DisniCompletionChannel) channel);
    }

    @Override
    protected NativeQueuePair newQueuePair(QueuePairParts parts) {
        return DisniQueuePair.create(this, parts);
    }

    @Override
    protected InetSocketAddress listenAddress(InetSocketAddress local) {
        if (local.getAddress().isAnyLocalAddress()) {
            return new InetSocketAddress(probe.address(), local.getPort());
        }
        DisniCmId.checkVersion(local);
        return local;
    }

    @Override
    protected void destroy() {
        try {
            manager.exclusively(() -> DisniErrors.run(this::unbind, "the id that keeps " + name()));
        } finally {
            manager.close();
        }
    }

    private void unbind() throws IOException {
        if (probe.siwGuard().isPresent()) {
            probe.siwGuard().get().destroy();
        }
        probe.id().destroy();
    }

    // ---- VerbsDevice

    @Override
    public String name() {
        return probe.name() + " (DiSNI, " + probe.capabilities().transport() + ")";
    }

    @Override
    public Capabilities capabilities() {
        return probe.capabilities();
    }
}
