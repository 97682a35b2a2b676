package org.softrdma.sanitiser.device;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.OpenObject;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.sanitiser.watch.Watch;
import org.softrdma.sanitiser.watch.WatchedQueuePairs;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.DatagramListener;
import org.softrdma.verbs.cm.DatagramRequestListener;
import org.softrdma.verbs.cm.DatagramService;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** A device whose objects are watched. Any thread, as the provider's. */
public final class SanitisedDevice implements VerbsDevice {
    private final VerbsDevice device;
    private final Watch watch;
    private final int number;
    private final Lifetime lifetime;
    private final WatchedQueuePairs queuePairs = new WatchedQueuePairs();
    private final Wrappers wrappers = new Wrappers();
    private final QueuePairMaker maker;

    /**
     * Wraps a device.
     *
     * @param device the provider's
     * @param watch shared by the devices of a sanitiser
     */
    public SanitisedDevice(VerbsDevice device, Watch watch) {
        this.device = device;
        this.watch = watch;
        number = watch.open().nextDevice();
        lifetime = Lifetime.beyondDevice(watch.open(), number, "device " + device.name());
        maker = new QueuePairMaker(watch, number, device.name(), queuePairs, wrappers);
    }

    @Override
    public String name() {
        return device.name();
    }

    @Override
    public Capabilities capabilities() {
        return device.capabilities();
    }

    @Override
    public boolean manualProgress() {
        return device.manualProgress();
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        return new SanitisedDomain(
                device.allocateProtectionDomain(),
                watch,
                number,
                device.name(),
                wrappers,
                (domain, attributes) -> maker.make(ProtectionDomain::createQueuePair, domain, attributes));
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        return new SanitisedChannel(device.createCompletionChannel(), watch, number);
    }

    @Override
    public CompletionQueue createCompletionQueue(int minimumEntries) {
        return sanitised(device.createCompletionQueue(minimumEntries), null);
    }

    @Override
    public CompletionQueue createCompletionQueue(int minimumEntries, CompletionChannel channel, int completionVector) {
        CompletionQueue bare =
                device.createCompletionQueue(minimumEntries, SanitisedChannel.bare(channel), completionVector);
        return sanitised(bare, (SanitisedChannel) channel);
    }

    private CompletionQueue sanitised(CompletionQueue bare, @Nullable SanitisedChannel channel) {
        Runnable closed = () -> {
            wrappers.remove(bare);
            if (channel != null) {
                channel.remove(bare);
            }
        };
        SanitisedCompletionQueue queue = new SanitisedCompletionQueue(bare, watch, number, queuePairs, closed);
        wrappers.add(bare, queue);
        if (channel != null) {
            channel.add(bare, queue);
        }
        return queue;
    }

    @Override
    public HostMemory allocateMemory(long length) {
        return sanitised(device.allocateMemory(length), length);
    }

    @Override
    public HostMemory allocateMemory(long length, MemorySource source) {
        return sanitised(device.allocateMemory(length, source), length);
    }

    private HostMemory sanitised(HostMemory memory, long length) {
        return new SanitisedMemory(
                memory, Lifetime.beyondDevice(watch.open(), number, "memory of " + length + " bytes"));
    }

    @Override
    public String pinning() {
        return device.pinning();
    }

    @Override
    public PinningCounters pinningCounters() {
        return device.pinningCounters();
    }

    @Override
    public Optional<AsyncEvent> awaitEvent(long timeoutNs) {
        long startNs = System.nanoTime();
        Optional<AsyncEvent> event = device.awaitEvent(timeoutNs);
        while (event.isPresent()) {
            Optional<AsyncEvent> about = wrappers.about(event.get());
            if (about.isPresent()) {
                return about;
            }
            event = device.awaitEvent(Math.max(0, timeoutNs - (System.nanoTime() - startNs)));
        }
        return event;
    }

    @Override
    public Listener listen(InetSocketAddress local, int backlog) {
        return new SanitisedListener(device.listen(local, backlog), maker);
    }

    @Override
    public Connector resolve(InetSocketAddress remote, long timeoutNs) {
        return new SanitisedConnector(device.resolve(remote, timeoutNs), remote, maker);
    }

    @Override
    public DatagramService resolveDatagrams(InetSocketAddress service, byte[] privateData, long timeoutNs) {
        return device.resolveDatagrams(service, privateData, timeoutNs);
    }

    @Override
    public DatagramListener listenForDatagrams(InetSocketAddress local, DatagramService offered) {
        DatagramListener bare = device.listenForDatagrams(local, offered);
        return new SanitisedDatagramListener(
                bare, Lifetime.of(watch.open(), number, "listener for datagrams at " + bare.localAddress()));
    }

    @Override
    public DatagramRequestListener listenForDatagramRequests(InetSocketAddress local, int backlog) {
        DatagramRequestListener bare = device.listenForDatagramRequests(local, backlog);
        return new SanitisedDatagramRequestListener(
                bare, Lifetime.of(watch.open(), number, "listener for datagrams at " + bare.localAddress()));
    }

    @Override
    public int progress(long timeoutNs) {
        return device.progress(timeoutNs);
    }

    @Override
    public void wakeUp() {
        device.wakeUp();
    }

    @Override
    public Map<String, Long> counters() {
        return device.counters();
    }

    /** Reports what is open first: the provider refuses to close the device then. */
    @Override
    public void close() {
        for (OpenObject object : watch.open().childrenOf(number)) {
            watch.reporter()
                    .report(new Finding(
                            Rule.LEAKED,
                            "the device " + device.name() + " is closed, and this is open: " + object.what(),
                            null,
                            null,
                            null,
                            object.createdAt()));
        }
        device.close();
        lifetime.end();
    }

    @Override
    public String toString() {
        return device.toString();
    }
}
