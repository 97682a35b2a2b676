package org.softrdma.disni.device;

import java.util.Optional;
import java.util.concurrent.locks.Condition;
import org.softrdma.ibverbs.Deadline;
import org.softrdma.ibverbs.device.IbvCompletionChannel;
import org.softrdma.ibverbs.device.OpenDevice;
import org.softrdma.verbs.CompletionQueue;

/**
 * The events of completion queues; not a C object. Each queue has an {@code ibv_comp_channel} of its own, because DiSNI
 * does not say which queue an event belongs to, and a thread that hands over its events ({@link EventPump}). Threads:
 * any thread that waits, under one lock.
 */
final class DisniCompletionChannel extends IbvCompletionChannel {
    private final Condition raised = lock.newCondition();

    /** Without events; its device counts it already. */
    DisniCompletionChannel(OpenDevice device) {
        super(device);
    }

    @Override
    protected void eventRaised() {
        raised.signal();
    }

    @Override
    public Optional<CompletionQueue> await(long timeoutNs) {
        Deadline deadline = Deadline.in(timeoutNs);
        lock.lock();
        try {
            Optional<CompletionQueue> event = takeRaised();
            while (event.isEmpty() && deadline.remainingNs() > 0) {
                long ignored = raised.awaitNanos(deadline.remainingNs());
                event = takeRaised();
            }
            return event;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted(e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void destroy() {
        raised.signalAll();
    }
}
