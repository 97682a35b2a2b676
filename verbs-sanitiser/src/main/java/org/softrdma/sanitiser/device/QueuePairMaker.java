package org.softrdma.sanitiser.device;

import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.watch.CompletionQueueRecord;
import org.softrdma.sanitiser.watch.CompletionRoutes;
import org.softrdma.sanitiser.watch.QueuePairWatch;
import org.softrdma.sanitiser.watch.SharedReceiveWatch;
import org.softrdma.sanitiser.watch.Watch;
import org.softrdma.sanitiser.watch.WatchedQueuePairs;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.SharedReceiveQueue;

/**
 * Makes the queue pairs of a device.
 *
 * @param watch shared by the devices of a sanitiser
 * @param device number of the device
 * @param deviceName its name
 * @param queuePairs those of the device
 * @param wrappers the objects of the device
 */
record QueuePairMaker(Watch watch, int device, String deviceName, WatchedQueuePairs queuePairs, Wrappers wrappers) {
    /** Makes one from the provider's. The provider refuses objects that are not its own. */
    SanitisedQueuePair make(
            BiFunction<ProtectionDomain, QueuePairAttributes, QueuePair> create,
            ProtectionDomain domain,
            QueuePairAttributes attributes) {
        ProtectionDomain bareDomain = domain instanceof SanitisedDomain sanitised ? sanitised.bare() : domain;
        QueuePairAttributes bareAttributes = new QueuePairAttributes(
                SanitisedCompletionQueue.bare(attributes.sendCompletions()),
                SanitisedCompletionQueue.bare(attributes.receiveCompletions()),
                attributes.limits(),
                attributes.signalAll(),
                SanitisedSharedReceiveQueue.bare(attributes.sharedReceives()),
                attributes.relaxedReads(),
                attributes.type(),
                attributes.queueKey());
        QueuePair bare = create.apply(bareDomain, bareAttributes);
        SanitisedDomain sanitised = (SanitisedDomain) domain;
        CompletionRoutes routes = new CompletionRoutes(
                record(attributes.sendCompletions()),
                record(attributes.receiveCompletions()),
                watch(attributes.sharedReceives()),
                attributes.signalAll(),
                attributes.queueKey());
        QueuePairWatch watched =
                new QueuePairWatch(watch, deviceName, sanitised.regions().regions(), bare, routes);
        queuePairs.opened(bare.number(), watched);
        Lifetime lifetime = Lifetime.of(watch.open(), device, "queue pair " + bare.number());
        return new SanitisedQueuePair(bare, domain, watched, queuePairs, wrappers, lifetime);
    }

    private static @Nullable SharedReceiveWatch watch(@Nullable SharedReceiveQueue queue) {
        return queue == null ? null : ((SanitisedSharedReceiveQueue) queue).watch();
    }

    private static CompletionQueueRecord record(CompletionQueue queue) {
        return ((SanitisedCompletionQueue) queue).record();
    }

    /** The lifetime of another object of the device that was just created. */
    Lifetime lifetime(String what) {
        return Lifetime.of(watch.open(), device, what);
    }
}
