package org.softrdma.ibverbs.device;

import java.util.function.Consumer;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.verbs.QueuePairState;

/**
 * What is outstanding on a queue pair, and the state that decides how it ends: the part of a queue pair that its
 * completion queues see.
 *
 * <p>Threads: the rings as {@link WorkRing} says; the state changes under the queue pair's locks and is read by any
 * thread.
 */
final class QueuePairWork {
    private final int number;
    private final WorkRing sends;
    private final WorkRing receives;
    private final Consumer<String> whenFailed;
    private volatile QueuePairState state = QueuePairState.INITIAL;
    private volatile boolean deviceFlushes;

    /**
     * Nothing outstanding yet.
     *
     * @param number of the native queue pair
     * @param sends requests of the send queue
     * @param receives requests of the receive queue
     * @param deviceFlushes see {@link #deviceFlushes}
     * @param whenFailed takes the queue pair to ERROR, with a reason for people
     */
    QueuePairWork(int number, WorkRing sends, WorkRing receives, boolean deviceFlushes, Consumer<String> whenFailed) {
        this.number = number;
        this.sends = sends;
        this.receives = receives;
        this.deviceFlushes = deviceFlushes;
        this.whenFailed = whenFailed;
    }

    int number() {
        return number;
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

    /** True if the device completes, in order, whatever is posted in ERROR; else the completion queue does. */
    boolean deviceFlushes() {
        return deviceFlushes;
    }

    /** The device does not, although it could: the native queue pair is about to go. With posting stopped. */
    void deviceWillNotFlush() {
        deviceFlushes = false;
    }

    /** True if what is posted stays in the rings. Under the lock of either queue. */
    boolean isWithheld() {
        return state == QueuePairState.ERROR && !deviceFlushes;
    }

    /** Goes to ERROR. With posting stopped. */
    void enterError() {
        state = QueuePairState.ERROR;
        sends.withhold();
        receives.withhold();
    }

    /** A poll has seen a request of it fail. Under no lock. */
    void requestFailed() {
        whenFailed.accept("a work request failed");
    }
}
