package org.softrdma.ibverbs.device;

import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.provider.Creation;

/** Creates the queue pairs of a device, for connectors, connection requests and domains. Thread-safe. */
final class QueuePairs {
    private final OpenDevice device;
    private final Supplier<? extends ConnectionThread> thread;
    private final Function<QueuePairParts, IbvQueuePair> create;

    /**
     * For a device.
     *
     * @param device counts them
     * @param thread of the device
     * @param create {@code rdma_create_qp}, {@code ibv_create_qp}
     */
    QueuePairs(
            OpenDevice device,
            Supplier<? extends ConnectionThread> thread,
            Function<QueuePairParts, IbvQueuePair> create) {
        this.device = device;
        this.thread = thread;
        this.create = create;
    }

    /**
     * Creates one.
     *
     * @param domain of this device
     * @param attributes sizes, and queues of this device
     * @param id on which it is created; null if the application connects it
     */
    IbvQueuePair create(ProtectionDomain domain, QueuePairAttributes attributes, @Nullable CmId id) {
        if (!(domain instanceof IbvProtectionDomain mine) || !mine.isOf(device)) {
            throw new IllegalArgumentException("the protection domain belongs to another device, not to " + name());
        }
        checkMine(attributes.sendCompletions());
        checkMine(attributes.receiveCompletions());
        SharedReceiveQueue shared = attributes.sharedReceives();
        if (shared != null && !(shared instanceof IbvSharedReceiveQueue mineToo && mineToo.isOf(device))) {
            throw new IllegalArgumentException("the shared receive queue belongs to another device, not to " + name());
        }
        QueuePairParts parts =
                QueuePairParts.take(device, mine, attributes, new QueuePairParts.Connection(id, thread.get()));
        return Creation.orUndo(
                () -> {
                    IbvQueuePair made = create.apply(parts);
                    parts.made(made.work);
                    if (id != null) {
                        id.heldBy(made);
                    }
                    made.begin();
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
