package org.softrdma.disni.device;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.Threads;
import org.softrdma.ibverbs.device.Arming;

/**
 * The thread that takes a completion queue's native events while the queue is armed, and sleeps while it is not. It
 * waits in slices, because only an event ends a wait of DiSNI. Started when the queue is first armed.
 */
final class EventPump {
    private static final System.Logger LOG = System.getLogger(EventPump.class.getName());
    private static final int SLICE_MS = 10;

    private final DisniLibrary.Queue handle;
    private final DisniCompletionChannel channel;
    private final Arming arming;
    private final Thread thread;
    private volatile boolean closing;

    /**
     * Not started yet.
     *
     * @param handle native queue
     * @param channel where events go
     * @param arming of their queue
     */
    EventPump(DisniLibrary.Queue handle, DisniCompletionChannel channel, Arming arming) {
        this.handle = handle;
        this.channel = channel;
        this.arming = arming;
        thread = Thread.ofPlatform().daemon().name("disni-events").unstarted(this::run);
    }

    /** The queue was armed. The thread that arms it. */
    void armed() {
        if (thread.getState() == Thread.State.NEW) {
            thread.start();
        }
        LockSupport.unpark(thread);
    }

    private void run() {
        while (!closing) {
            if (!channel.isArmed(arming)) {
                LockSupport.park(this);
            } else {
                pump();
            }
        }
    }

    /** If a wait ends early without an event, the channel has failed, and the rest of the slice is waited here. */
    private void pump() {
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SLICE_MS);
        try {
            if (!handle.takeEvent(SLICE_MS)) {
                LockSupport.parkNanos(this, endNs - System.nanoTime());
            } else if (channel.happened(arming)) {
                handle.requestNotification(false);
            }
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "cannot read a completion event; trying again", e);
            LockSupport.parkNanos(this, endNs - System.nanoTime());
        }
    }

    /** Ends the thread, within a slice. */
    void close() {
        closing = true;
        if (thread.getState() != Thread.State.NEW) {
            LockSupport.unpark(thread);
            Threads.join(thread);
        }
    }
}
