package org.softrdma.disni.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.ibverbs.device.ConnectionManager;
import org.softrdma.ibverbs.device.IbvCompletionChannel;
import org.softrdma.ibverbs.device.IbvCompletionQueue;
import org.softrdma.ibverbs.device.IbvDevice;
import org.softrdma.ibverbs.device.IbvProtectionDomain;
import org.softrdma.ibverbs.device.IbvQueuePair;
import org.softrdma.ibverbs.device.QueuePairParts;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;

/**
 * A context of DiSNI as a verbs device. An id that is bound to one address keeps the context. Listening on a wildcard
 * means this address, the only one for which DiSNI has a context. Thread-safe.
 */
public final class DisniDevice extends IbvDevice {
    private final BoundDevice probe;
    private final DisniConnectionManager manager;

    private DisniDevice(BoundDevice probe) {
        this.probe = probe;
        manager = new DisniConnectionManager(probe.channel(), new InetSocketAddress(probe.address(), 0));
    }

    /**
     * Opens a device.
     *
     * @param probe what was found, closed with this device
     */
    public static DisniDevice open(BoundDevice probe) {
        DisniDevice device = new DisniDevice(probe);
        device.manager.start("disni-cm-" + probe.name());
        return device;
    }

    // ---- IbvDevice

    @Override
    public boolean isIwarp() {
        return probe.transport()
                .map(transport -> transport == WireProtocol.IWARP)
                .orElse(true);
    }

    @Override
    public boolean isSoftIwarp() {
        return probe.siwGuard().isPresent();
    }

    @Override
    public Set<Feature> connectionFeatures() {
        return capabilities().features();
    }

    @Override
    protected ConnectionManager connections() {
        return manager;
    }

    @Override
    protected IbvProtectionDomain newProtectionDomain() {
        return new DisniProtectionDomain(
                opened(), DisniErrors.make(probe.context()::allocateDomain, "a protection domain"));
    }

    @Override
    protected IbvCompletionChannel newCompletionChannel() {
        return new DisniCompletionChannel(opened());
    }

    @Override
    protected IbvCompletionQueue newCompletionQueue(
            int minimumEntries, @Nullable IbvCompletionChannel channel, int vector) {
        DisniLibrary.Queue queue = DisniErrors.make(
                () -> probe.context().createQueue(minimumEntries, vector),
                minimumEntries + " entries, completion vector " + vector + "; ask for fewer, or close some");
        return new DisniCompletionQueue(opened(), queue, minimumEntries, (DisniCompletionChannel) channel);
    }

    @Override
    protected IbvQueuePair newQueuePair(QueuePairParts parts) {
        return DisniQueuePair.create(parts);
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
