package org.softrdma.ibverbs.device;

import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.PostingRules;

/**
 * The parts of a queue pair, all of one device, which count it from {@link #take} to {@link #giveBack}.
 *
 * @param device its device
 * @param domain its domain
 * @param sendCompletions where its sends complete
 * @param receiveCompletions where its RECVs complete
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
        QueuePairLimits limits,
        boolean signalAll,
        CmId id,
        long tableNumber) {
    private static final String WHAT = "a queue pair";

    /** Takes the parts; domain and completion queues must belong to the device. */
    static QueuePairParts take(OpenDevice device, IbvProtectionDomain domain, QueuePairAttributes attributes, CmId id) {
        IbvCompletionQueue sends = (IbvCompletionQueue) attributes.sendCompletions();
        IbvCompletionQueue receives = (IbvCompletionQueue) attributes.receiveCompletions();
        QueuePairLimits limits =
                PostingRules.checked(attributes.limits(), device.traits().capabilities());
        return Creation.counted(
                domain.contents()::queuePairOpened,
                () -> {
                    long number = device.queuePairs().take();
                    return Creation.orUndo(
                            () -> {
                                QueuePairParts parts = new QueuePairParts(
                                        device, domain, sends, receives, limits, attributes.signalAll(), id, number);
                                attach(sends, receives);
                                return parts;
                            },
                            () -> device.queuePairs().giveBack(number),
                            WHAT);
                },
                domain.contents()::queuePairClosed,
                WHAT);
    }

    private static void attach(IbvCompletionQueue sends, IbvCompletionQueue receives) {
        sends.attach();
        try {
            if (receives != sends) {
                receives.attach();
            }
        } catch (Throwable e) {
            sends.detach(null);
            throw e;
        }
    }

    /**
     * The queue pair is gone.
     *
     * @param made null if it was never created
     */
    void giveBack(@Nullable QueuePairWork made) {
        device.queuePairs().giveBack(tableNumber);
        sendCompletions.detach(made);
        if (receiveCompletions != sendCompletions) {
            receiveCompletions.detach(made);
        }
        domain.contents().queuePairClosed();
    }
}
