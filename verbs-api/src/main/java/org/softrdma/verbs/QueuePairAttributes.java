package org.softrdma.verbs;

import org.jspecify.annotations.Nullable;

/**
 * What a queue pair is created with (C: {@code ibv_qp_init_attr}).
 *
 * @param sendCompletions where completions of the send queue go
 * @param receiveCompletions where completions of RECVs go; may be the same queue
 * @param limits the minimum sizes; those of RECVs do not matter with {@code sharedReceives}
 * @param signalAll true if every send work request gives a completion (C: {@code sq_sig_all}); false if only those
 *     with {@link SendFlags#SIGNALLED} do, and those that fail
 * @param sharedReceives where its RECVs come from; null if it has a receive queue of its own
 * @param relaxedReads true if a READ may be executed before the SENDs and WRITEs that were posted before it have
 *     reached the peer's memory. Completions keep their order. A device need not make use of it (libfabric: neither
 *     {@code FI_ORDER_RAW} nor {@code FI_ORDER_RAS} is asked for)
 * @param type what it can do; a connection manager makes RELIABLE_CONNECTION only
 * @param queueKey of UNRELIABLE_DATAGRAM: the key that a datagram must carry to be taken (C: {@code qkey}), not
 *     negative. It keeps strangers' datagrams away that came by mistake, and is no secret
 */
public record QueuePairAttributes(
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        QueuePairLimits limits,
        boolean signalAll,
        @Nullable SharedReceiveQueue sharedReceives,
        boolean relaxedReads,
        QueuePairType type,
        int queueKey) {
    /** Checks the queue key: those with the highest bit are the kernel's. */
    public QueuePairAttributes {
        if (queueKey < 0) {
            throw new IllegalArgumentException(
                    "queueKey=0x" + Integer.toHexString(queueKey) + ": expected 0 to 0x7fffffff");
        }
    }

    /** Of a reliable connection. */
    public QueuePairAttributes(
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions,
            QueuePairLimits limits,
            boolean signalAll,
            @Nullable SharedReceiveQueue sharedReceives,
            boolean relaxedReads) {
        this(
                sendCompletions,
                receiveCompletions,
                limits,
                signalAll,
                sharedReceives,
                relaxedReads,
                QueuePairType.RELIABLE_CONNECTION,
                0);
    }

    /** With a receive queue of its own, and READs in order. */
    public QueuePairAttributes(
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions,
            QueuePairLimits limits,
            boolean signalAll) {
        this(sendCompletions, receiveCompletions, limits, signalAll, null, false);
    }

    /**
     * One completion queue for both; only requests with {@link SendFlags#SIGNALLED} give a completion.
     *
     * @param completions where all completions go
     * @param limits the minimum sizes
     */
    public static QueuePairAttributes of(CompletionQueue completions, QueuePairLimits limits) {
        return new QueuePairAttributes(completions, completions, limits, false, null, false);
    }

    /**
     * The same with RECVs from a shared queue.
     *
     * @param newSharedReceives a queue of the same device
     */
    public QueuePairAttributes withSharedReceives(SharedReceiveQueue newSharedReceives) {
        return new QueuePairAttributes(
                sendCompletions,
                receiveCompletions,
                limits,
                signalAll,
                newSharedReceives,
                relaxedReads,
                type,
                queueKey);
    }

    /** The same with READs that may be executed before earlier SENDs and WRITEs have reached the peer's memory. */
    public QueuePairAttributes withRelaxedReads() {
        return new QueuePairAttributes(
                sendCompletions, receiveCompletions, limits, signalAll, sharedReceives, true, type, queueKey);
    }

    /**
     * The same of another type.
     *
     * @param newType for {@link ProtectionDomain#createQueuePair}
     */
    public QueuePairAttributes withType(QueuePairType newType) {
        return new QueuePairAttributes(
                sendCompletions,
                receiveCompletions,
                limits,
                signalAll,
                sharedReceives,
                relaxedReads,
                newType,
                queueKey);
    }

    /**
     * The same for datagrams.
     *
     * @param newQueueKey that a datagram must carry to be taken
     */
    public QueuePairAttributes withDatagrams(int newQueueKey) {
        return new QueuePairAttributes(
                sendCompletions,
                receiveCompletions,
                limits,
                signalAll,
                sharedReceives,
                relaxedReads,
                QueuePairType.UNRELIABLE_DATAGRAM,
                newQueueKey);
    }
}
