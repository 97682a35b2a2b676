package org.softrdma.sim.device;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.link.AddressedEnd;
import org.softrdma.sim.link.QueuePairNumbers;
import org.softrdma.sim.link.Wire;
import org.softrdma.sim.link.WireConnection;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.AsyncEvents;
import org.softrdma.sim.queue.Progress;
import org.softrdma.sim.queue.SoftCompletionQueue;
import org.softrdma.sim.queue.SoftSharedReceiveQueue;
import org.softrdma.sim.samehost.SameHost;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.DomainContents;
import org.softrdma.verbs.provider.PostingRules;

/** Makes the queue pairs of a device, and counts them. Application threads. */
final class QueuePairFactory {
    private final Parts device;
    private final QueuePairNumbers numbers;
    private final ResourceQuota quota;
    /** Of a connection, within the device's profile. */
    private final Set<Feature> connectionFeatures;

    /**
     * What queue pairs have of their device.
     *
     * @param name of the device
     * @param progress of the device
     * @param capabilities of the device, within its profile
     * @param stags that the regions of its domains are rows of
     * @param events of the device
     * @param wire of the device
     * @param sameHost of the device, or null
     */
    record Parts(
            String name,
            Progress progress,
            Capabilities capabilities,
            StagTable stags,
            AsyncEvents events,
            Wire wire,
            @Nullable SameHost sameHost) {}

    /** Makes a queue pair with a number. */
    private interface Maker<T extends SoftQueuePair> {
        T make(int number, Runnable onClose);
    }

    /**
     * None was made.
     *
     * @param device of the queue pairs
     * @param numbers of its queue pairs
     * @param quota how many there may be
     */
    QueuePairFactory(Parts device, QueuePairNumbers numbers, ResourceQuota quota) {
        this.device = device;
        this.numbers = numbers;
        this.quota = quota;
        connectionFeatures = Set.copyOf(device.wire().features().stream()
                .filter(device.capabilities()::has)
                .toList());
    }

    /** Of a connection of the connection manager. */
    SoftQueuePair create(ProtectionDomain domain, QueuePairAttributes attributes, WireConnection connection) {
        if (!(domain instanceof DeviceDomain mine) || !mine.isOf(device.stags())) {
            throw new IllegalArgumentException(
                    "the protection domain belongs to another device, not to " + device.name());
        }
        checkQueues(attributes);
        PostingRules.requireConnectable(attributes.type());
        return counted(
                mine,
                attributes,
                (number, onClose) -> new SoftQueuePair(
                        number,
                        mine,
                        attributes,
                        device.capabilities(),
                        connectionFeatures,
                        device.events(),
                        connection,
                        device.sameHost(),
                        onClose));
    }

    /** Without a connection manager. */
    UnconnectedSoftQueuePair create(DeviceDomain domain, QueuePairAttributes attributes) {
        checkQueues(attributes);
        AddressedEnd end = device.wire().addressed(attributes.type(), attributes.queueKey());
        UnconnectedSoftQueuePair made = counted(
                domain,
                attributes,
                (number, onClose) -> new UnconnectedSoftQueuePair(
                        number,
                        domain,
                        attributes,
                        device.capabilities(),
                        connectionFeatures,
                        device.events(),
                        end,
                        onClose));
        try {
            Waiting.onLoop(end.connection().engine(), made::open);
            return made;
        } catch (Throwable e) {
            made.close();
            throw e;
        }
    }

    private void checkQueues(QueuePairAttributes attributes) {
        checkMine(attributes.sendCompletions());
        checkMine(attributes.receiveCompletions());
        checkMine(attributes.sharedReceives());
    }

    private void checkMine(CompletionQueue queue) {
        if (!(queue instanceof SoftCompletionQueue mine) || !mine.isOf(device.progress())) {
            throw new IllegalArgumentException(
                    "the completion queue belongs to another device, not to " + device.name());
        }
    }

    private void checkMine(@Nullable SharedReceiveQueue queue) {
        if (queue != null && !(queue instanceof SoftSharedReceiveQueue mine && mine.isOf(device.progress()))) {
            throw new IllegalArgumentException(
                    "the shared receive queue belongs to another device, not to " + device.name());
        }
    }

    private <T extends SoftQueuePair> T counted(DeviceDomain domain, QueuePairAttributes attributes, Maker<T> maker) {
        return Creation.counted(
                () -> domain.opened(DomainContents.Kind.QUEUE_PAIR),
                () -> withQuota(domain, maker),
                () -> domain.closed(DomainContents.Kind.QUEUE_PAIR),
                text(attributes.limits()));
    }

    /** Not by the limits' own text: without memory for its first use a record has none for good. */
    private static String text(QueuePairLimits limits) {
        return "a queue pair of " + limits.maxSendWorkRequests() + " send and " + limits.maxReceiveWorkRequests()
                + " receive work requests";
    }

    private <T extends SoftQueuePair> T withQuota(DeviceDomain domain, Maker<T> maker) {
        quota.take(ResourceQuota.Kind.QUEUE_PAIR);
        try {
            return withNumber(domain, maker);
        } catch (Throwable e) {
            quota.giveBack(ResourceQuota.Kind.QUEUE_PAIR);
            throw e;
        }
    }

    private <T extends SoftQueuePair> T withNumber(DeviceDomain domain, Maker<T> maker) {
        int number = numbers.take();
        try {
            return maker.make(number, () -> closed(domain, number));
        } catch (Throwable e) {
            numbers.giveBack(number);
            throw e;
        }
    }

    private void closed(DeviceDomain domain, int number) {
        numbers.giveBack(number);
        quota.giveBack(ResourceQuota.Kind.QUEUE_PAIR);
        domain.closed(DomainContents.Kind.QUEUE_PAIR);
    }
}
