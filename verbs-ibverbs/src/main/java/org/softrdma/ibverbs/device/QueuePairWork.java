package org.softrdma.ibverbs.device;

import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;

/**
 * The outstanding requests of a queue pair, and the state that decides how they end: the part of a queue pair that its
 * completion queues see.
 *
 * <p>Threads: for the rings see {@link WorkRing}. The state changes under the queue pair's locks; any thread may read
 * it.
 */
final class QueuePairWork {
    private final int number;
    private final QueuePairType type;
    private final WorkRing sends;
    private final WorkRing receives;
    private final Consumer<String> whenFailed;
    private final LongConsumer whenSendFailed;
    private volatile QueuePairState state = QueuePairState.INITIAL;
    private volatile boolean deviceFlushes;
    /** It was reset: what it has completed before may be polled in any state. */
    private volatile boolean wasReset;

    /**
     * Its two queues.
     *
     * @param sends requests of the send queue
     * @param receives requests of the receive queue
     */
    record Rings(WorkRing sends, WorkRing receives) {}

    /**
     * Nothing outstanding yet.
     *
     * @param number of the native queue pair
     * @param type what it can do
     * @param rings its queues
     * @param deviceFlushes see {@link #deviceFlushes}
     * @param whenFailed moves the queue pair to ERROR, with a reason
     * @param whenSendFailed told of each send that did not succeed
     */
    QueuePairWork(
            int number,
            QueuePairType type,
            Rings rings,
            boolean deviceFlushes,
            Consumer<String> whenFailed,
            LongConsumer whenSendFailed) {
        this.number = number;
        this.type = type;
        sends = rings.sends;
        receives = rings.receives;
        this.deviceFlushes = deviceFlushes;
        this.whenFailed = whenFailed;
        this.whenSendFailed = whenSendFailed;
    }

    int number() {
        return number;
    }

    /** True if its RECVs take datagrams. */
    boolean takesDatagrams() {
        return type == QueuePairType.UNRELIABLE_DATAGRAM;
    }

    WorkRing sends() {
        return sends;
    }

    WorkRing receives() {
        return receives;
    }

    QueuePairState state() {
        return state;
    }

    /** Under the queue pair's state lock. */
    void state(QueuePairState next) {
        state = next;
    }

    /** True if the device completes requests that are posted in ERROR, in order; else the completion queue does. */
    boolean deviceFlushes() {
        return deviceFlushes;
    }

    /**
     * The device will not flush although it could, because the native queue pair is about to be destroyed. With posting
     * stopped.
     */
    void deviceWillNotFlush() {
        deviceFlushes = false;
    }

    /** True if posted requests stay in the rings. Under the lock of either queue. */
    boolean isWithheld() {
        return state == QueuePairState.ERROR && !deviceFlushes;
    }

    /** True before it is connected, when a message may have arrived before its connection is known here. */
    boolean mayBeEarly() {
        return state == QueuePairState.INITIAL && !wasReset;
    }

    /** True if a completion that has failed is of what was posted since the queue pair is in use. */
    boolean isInUse() {
        return !wasReset || (state != QueuePairState.RESET && state != QueuePairState.INITIAL);
    }

    /** Goes to RESET. With posting stopped; what was posted is discarded. */
    void reset() {
        state = QueuePairState.RESET;
        wasReset = true;
    }

    /** Goes to ERROR. With posting stopped. */
    void enterError() {
        state = QueuePairState.ERROR;
        sends.withhold();
        receives.withhold();
    }

    /**
     * Takes a request that did not succeed from its ring. Under the lock of its completion queue.
     *
     * @param ring of sends or of RECVs
     * @param sequence of the request
     * @return the application's number
     */
    long fail(WorkRing ring, long sequence) {
        if (ring == sends) {
            whenSendFailed.accept(sequence);
        }
        return ring.complete(sequence, false);
    }

    /** A poll has seen one of its requests fail. Under no lock. */
    void requestFailed() {
        whenFailed.accept("a work request failed");
    }
}
