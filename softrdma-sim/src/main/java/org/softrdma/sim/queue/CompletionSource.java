package org.softrdma.sim.queue;

/** A queue pair, as its completion queues see it. */
public interface CompletionSource {
    /** Number of the queue pair. */
    int number();

    /** A completion was polled: slots of the send queue before this sequence are free. Any thread. */
    void releaseSendSlots(long sequence);

    /** A completion was polled: slots of the receive queue before this sequence are free. Any thread. */
    void releaseReceiveSlots(long sequence);

    /**
     * A completion queue of this queue pair has overrun: goes to ERROR. Called once for each overrun, outside the
     * queue's lock, by the engine whose completion did not fit, which may not be this queue pair's.
     */
    void completionQueueOverrun();
}
