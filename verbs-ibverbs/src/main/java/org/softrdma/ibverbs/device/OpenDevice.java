package org.softrdma.ibverbs.device;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.softrdma.ibverbs.QueuePairTable;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.DatagramService;
import org.softrdma.verbs.provider.Creation;

/**
 * The part of a device that its objects know: traits, counts, and the numbers of its queue pairs. It lies below all of
 * them, so that none of them knows {@link IbvDevice}. Thread-safe.
 */
public final class OpenDevice {
    private static final int CLOSED = -1;

    private final DeviceTraits traits;
    private final BiFunction<ProtectionDomain, QueuePairAttributes, UnconnectedQueuePair> unconnected;
    private final QueuePairTable<QueuePairWork> queuePairs = new QueuePairTable<>();
    private final QueuePairTable<SharedReceives> sharedReceives = new QueuePairTable<>();
    private final DriverEvents events = new DriverEvents();
    /** Keeps regions reachable: neither the C object nor a key keeps their memory alive. */
    private final Set<MemoryRegion> regions = ConcurrentHashMap.newKeySet();

    private final LongAdder connectionsEstablished = new LongAdder();
    private final LongAdder connectionsClosed = new LongAdder();
    /** Number of open objects of the device, or {@link #CLOSED}. */
    private final AtomicInteger children = new AtomicInteger();

    /**
     * Without children.
     *
     * @param traits what kind of device it is
     * @param unconnected makes queue pairs without a connection manager
     */
    OpenDevice(
            DeviceTraits traits, BiFunction<ProtectionDomain, QueuePairAttributes, UnconnectedQueuePair> unconnected) {
        this.traits = traits;
        this.unconnected = unconnected;
    }

    /** What kind of device it is. */
    public DeviceTraits traits() {
        return traits;
    }

    /** Makes a queue pair without a connection manager, of a type that the device has. */
    UnconnectedQueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes) {
        return unconnected.apply(domain, attributes);
    }

    QueuePairTable<QueuePairWork> queuePairs() {
        return queuePairs;
    }

    QueuePairTable<SharedReceives> sharedReceives() {
        return sharedReceives;
    }

    /** What has happened to its objects. */
    public DriverEvents events() {
        return events;
    }

    // ---- regions

    void regionOpened(MemoryRegion region) {
        regions.add(region);
    }

    void regionClosed(MemoryRegion region) {
        regions.remove(region);
    }

    // ---- connections

    void connectionEstablished() {
        connectionsEstablished.increment();
    }

    void connectionClosed() {
        connectionsClosed.increment();
    }

    long connectionsEstablished() {
        return connectionsEstablished.sum();
    }

    long connectionsClosed() {
        return connectionsClosed.sum();
    }

    /** What a side wants, within the limits of this device. */
    ConnectionParameters clamp(ConnectionParameters parameters) {
        checkPrivateData(parameters.privateData().length);
        return new ConnectionParameters(
                Math.min(parameters.outboundReads(), traits.capabilities().maxOutboundReads()),
                Math.min(parameters.inboundReads(), traits.capabilities().maxInboundReads()),
                parameters.privateData());
    }

    void checkPrivateData(int length) {
        int most = traits.capabilities().maxPrivateData();
        if (length > most) {
            throw new IllegalArgumentException("private data of " + length + " bytes: expected at most " + most
                    + (most == 0 ? ", as this provider carries none; send it as the first message" : ""));
        }
    }

    /** Checks what the datagrams of a service are to be told. */
    void checkOffered(DatagramService offered) {
        checkPrivateData(offered.privateData().length);
        if (offered.queueKey() != DatagramService.QUEUE_KEY) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "a service of datagrams: rdma_cm tells peers the queue key 0x"
                            + Integer.toHexString(DatagramService.QUEUE_KEY) + " only, not 0x"
                            + Integer.toHexString(offered.queueKey()));
        }
    }

    // ---- children

    void childOpened() {
        if (children.getAndUpdate(count -> count < 0 ? count : count + 1) < 0) {
            throw new IllegalStateException(traits.name() + " is closed");
        }
    }

    void childClosed() {
        children.decrementAndGet();
    }

    /** Makes something that this device counts until it calls {@link #childClosed}. */
    <T> T child(Supplier<T> made) {
        return Creation.counted(this::childOpened, made, this::childClosed, "an object of " + traits.name());
    }

    /** Closes the device unless it has open objects; returns how many it has. */
    int closeUnlessInUse() {
        return Math.max(0, children.compareAndExchange(0, CLOSED));
    }
}
