package org.softrdma.ibverbs.device;

import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.DomainContents;
import org.softrdma.verbs.provider.PostingRules;

/**
 * The parts of a queue pair, all of one device, which count it from {@link #take} to {@link #giveBack}.
 *
 * @param sendCompletions where its sends complete
 * @param receiveCompletions where its RECVs complete
 * @param sharedReceives where its RECVs come from; null if it has a receive queue of its own
 * @param limits requested limits, within those of the device
 * @param signalAll every request is signalled
 * @param type what it can do
 * @param queueKey of datagrams
 * @param connection what connects it
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
        QueuePairType type,
        int queueKey,
        Connection connection,
        long tableNumber) {
    private static final String WHAT = "a queue pair";

    /**
     * What connects a queue pair.
     *
     * @param id resolved to the device, or of a connect request; null if the application does it by addresses
     * @param thread of the device
     */
    record Connection(@Nullable CmId id, ConnectionThread thread) {}

    /** The id that connects it; null if the application does it by addresses. */
    public @Nullable CmId id() {
        return connection.id;
    }

    /**
     * The id that connects it.
     *
     * @throws IllegalStateException if there is none
     */
    public CmId requireId() {
        CmId id = connection.id;
        if (id == null) {
            throw new IllegalStateException("a queue pair that the application connects has no id");
        }
        return id;
    }

    /** Takes the parts; domain and queues must belong to the device. */
    static QueuePairParts take(
            OpenDevice device, IbvProtectionDomain domain, QueuePairAttributes attributes, Connection connection) {
        IbvCompletionQueue sends = (IbvCompletionQueue) attributes.sendCompletions();
        IbvCompletionQueue receives = (IbvCompletionQueue) attributes.receiveCompletions();
        IbvSharedReceiveQueue shared = (IbvSharedReceiveQueue) attributes.sharedReceives();
        Capabilities capabilities = device.traits().capabilities();
        if (connection.id != null) {
            PostingRules.requireConnectable(attributes.type());
        }
        QueuePairLimits limits = PostingRules.checked(
                shared == null ? attributes.limits() : withoutReceives(attributes.limits()), capabilities);
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
                                        attributes.type(),
                                        attributes.queueKey(),
                                        connection,
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
