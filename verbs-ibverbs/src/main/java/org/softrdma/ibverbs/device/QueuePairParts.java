package org.softrdma.ibverbs.device;

import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.DomainContents;
import org.softrdma.verbs.provider.PostingRules;

/**
 * The parts of a queue pair, all of one device, which count it from {@link #take} to {@link #giveBack}.
 *
 * @param device its device
 * @param domain its domain
 * @param sendCompletions where its sends complete
 * @param receiveCompletions where its RECVs complete
 * @param sharedReceives where its RECVs come from; null if it has a receive queue of its own
 * @param limits requested limits, within those of the device
 * @param signalAll every request is signalled
 * @param id resolved to the device, or of a connect request
 * @param tableNumber its number in the device's table
 */
public record QueuePairParts(
        OpenDevice device,
        IbvProtectionDomain domain,
        IbvCompletionQueue sendCompletions,
        IbvCompletionQueue receiveCompletions,
        @Nullable IbvSharedReceiveQueue sharedReceives,
        QueuePairLimits limits,
        boolean signalAll,
        CmId id,
        long tableNumber) {
    private static final String WHAT = "a queue pair";

    /** Takes the parts; domain and queues must belong to the device. */
    static QueuePairParts take(OpenDevice device, IbvProtectionDomain domain, QueuePairAttributes attributes, CmId id) {
        IbvCompletionQueue sends = (IbvCompletionQueue) attributes.sendCompletions();
        IbvCompletionQueue receives = (IbvCompletionQueue) attributes.receiveCompletions();
        IbvSharedReceiveQueue shared = (IbvSharedReceiveQueue) attributes.sharedReceives();
        QueuePairLimits limits = PostingRules.checked(
                shared == null ? attributes.limits() : withoutReceives(attributes.limits()),
                device.traits().capabilities());
        return Creation.counted(
                () -> domain.contents().opened(DomainContents.Kind.QUEUE_PAIR),
                () -> {
                    long number = device.queuePairs().take();
                    return Creation.orUndo(
                            () -> {
                                QueuePairParts parts = new QueuePairParts(
                                        device,
                                        domain,
                                        sends,
                                        receives,
                                        shared,
                                        limits,
                                        attributes.signalAll(),
                                        id,
                                        number);
                                parts.attach();
                                return parts;
                            },
                            () -> device.queuePairs().giveBack(number),
                            WHAT);
                },
                () -> domain.contents().closed(DomainContents.Kind.QUEUE_PAIR),
                WHAT);
    }

    /** Those of the receive queue, which the queue pair does not have, do not matter. */
    private static QueuePairLimits withoutReceives(QueuePairLimits asked) {
        return new QueuePairLimits(asked.maxSendWorkRequests(), 1, asked.maxSendScatterGather(), 1, asked.maxInline());
    }

    private void attach() {
        sendCompletions.attach();
        try {
            attachReceives();
        } catch (Throwable e) {
            sendCompletions.detach(null);
            throw e;
        }
    }

    private void attachReceives() {
        if (sharedReceives != null) {
            sharedReceives.attach();
        }
        try {
            if (receiveCompletions != sendCompletions) {
                receiveCompletions.attach();
            }
        } catch (Throwable e) {
            if (sharedReceives != null) {
                sharedReceives.detach();
            }
            throw e;
        }
    }

    /** The queue pair was created: its completions find it from now on. */
    void made(QueuePairWork work) {
        device.queuePairs().set(tableNumber, work);
        if (sharedReceives != null) {
            sharedReceives.receives().joined(work);
        }
    }

    /**
     * The queue pair is gone.
     *
     * @param made null if it was never created
     */
    void giveBack(@Nullable QueuePairWork made) {
        device.queuePairs().giveBack(tableNumber);
        if (sharedReceives != null) {
            if (made != null) {
                sharedReceives.receives().left(made);
            }
            sharedReceives.detach();
        }
        sendCompletions.detach(made);
        if (receiveCompletions != sendCompletions) {
            receiveCompletions.detach(made);
        }
        domain.contents().closed(DomainContents.Kind.QUEUE_PAIR);
    }
}
