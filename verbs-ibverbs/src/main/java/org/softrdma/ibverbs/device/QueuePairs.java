package org.softrdma.ibverbs.device;

import java.util.function.Function;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.provider.Creation;

/** Creates the queue pairs of a device, for connectors and connection requests. Thread-safe. */
final class QueuePairs {
    private final OpenDevice device;
    private final Function<QueuePairParts, IbvQueuePair> create;

    /**
     * For a device.
     *
     * @param device counts them
     * @param create {@code rdma_create_qp}
     */
    QueuePairs(OpenDevice device, Function<QueuePairParts, IbvQueuePair> create) {
        this.device = device;
        this.create = create;
    }

    /**
     * Creates one.
     *
     * @param domain of this device
     * @param attributes sizes, and queues of this device
     * @param id on which it is created
     */
    IbvQueuePair create(ProtectionDomain domain, QueuePairAttributes attributes, CmId id) {
        if (!(domain instanceof IbvProtectionDomain mine) || !mine.isOf(device)) {
            throw new IllegalArgumentException("the protection domain belongs to another device, not to " + name());
        }
        checkMine(attributes.sendCompletions());
        checkMine(attributes.receiveCompletions());
        SharedReceiveQueue shared = attributes.sharedReceives();
        if (shared != null && !(shared instanceof IbvSharedReceiveQueue mineToo && mineToo.isOf(device))) {
            throw new IllegalArgumentException("the shared receive queue belongs to another device, not to " + name());
        }
        QueuePairParts parts = QueuePairParts.take(device, mine, attributes, id);
        return Creation.orUndo(
                () -> {
                    IbvQueuePair made = create.apply(parts);
                    parts.made(made.work);
                    id.heldBy(made);
                    return made;
                },
                () -> parts.giveBack(null),
                "a queue pair of " + attributes.limits());
    }

    private void checkMine(CompletionQueue queue) {
        if (!(queue instanceof IbvCompletionQueue mine) || !mine.isOf(device)) {
            throw new IllegalArgumentException("the completion queue belongs to another device, not to " + name());
        }
    }

    private String name() {
        return device.traits().name();
    }
}
