package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import org.softrdma.ibverbs.Deadline;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.device.IbvCompletionChannel;
import org.softrdma.ibverbs.device.IbvCompletionQueue;
import org.softrdma.ibverbs.device.OpenDevice;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.ConnectionManagerAbi;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.CompletionQueue;

/**
 * An {@code ibv_comp_channel}, with the events that this provider raises itself. Threads wait in {@code poll(2)}, in
 * slices, because an interrupt of a Java thread does not end that call. A virtual thread blocks its carrier meanwhile.
 *
 * <p>Native events are acknowledged when they are taken; the application's acknowledgements are counted here. Threads:
 * any thread that waits, under one lock that is not held while waiting.
 */
final class CoreCompletionChannel extends IbvCompletionChannel {
    private static final System.Logger LOG = System.getLogger(CoreCompletionChannel.class.getName());
    private static final int SLICE_MS = 10;

    private final DeviceContext device;
    private final VerbsLibrary library;
    private final long pointer;
    private final int descriptor;
    private final int wakeDescriptor;
    private final Condition left = lock.newCondition();

    /** Under the lock. */
    private int waiting;
    /**
     * The native channel has failed, for example because the device was removed, and is always readable. It is not
     * waited for any more.
     */
    private volatile boolean broken;

    /** Creates the native channel; its device counts it already. */
    CoreCompletionChannel(DeviceContext device, OpenDevice counts) {
        super(counts);
        this.device = device;
        library = device.library();
        pointer = NativeErrors.require(
                "ibv_create_comp_channel", library.createCompletionChannel(device.context()), "a completion channel");
        descriptor = CMemory.getInt(pointer + VerbsAbi.COMPLETION_CHANNEL_FD);
        wakeDescriptor = library.createWakeDescriptor();
        if (wakeDescriptor < 0) {
            library.destroyCompletionChannel(pointer);
            throw NativeErrors.failed("eventfd", wakeDescriptor, "a descriptor; raise ulimit -n");
        }
        library.setNonBlocking(descriptor);
    }

    long pointer() {
        return pointer;
    }

    @Override
    protected void eventRaised() {
        library.wake(wakeDescriptor);
    }

    // ---- waiting

    @Override
    public Optional<CompletionQueue> await(long timeoutNs) {
        Deadline deadline = Deadline.in(timeoutNs);
        enter();
        try (Arena arena = Arena.ofConfined()) {
            long size = ConnectionManagerAbi.POLL_DESCRIPTOR.byteSize();
            long descriptors = arena.allocate(2 * size, Long.BYTES).address();
            CoreConnectionManager.watch(descriptors, wakeDescriptor);
            CoreConnectionManager.watch(descriptors + size, descriptor);
            while (true) {
                Optional<CompletionQueue> event = take(CoreConnectionManager.isReadable(descriptors));
                if (event.isPresent() || deadline.remainingNs() == 0) {
                    return event;
                }
                if (Thread.currentThread().isInterrupted()) {
                    throw interrupted(null);
                }
                library.poll(descriptors, broken ? 1 : 2, Math.min(SLICE_MS, deadline.remainingMs()));
            }
        } finally {
            leave();
        }
    }

    private void enter() {
        lock.lock();
        try {
            checkOpen();
            waiting++;
        } finally {
            lock.unlock();
        }
    }

    private void leave() {
        lock.lock();
        try {
            waiting--;
            left.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes an event if there is one. A woken thread resets the wake descriptor, even if the queue was closed and there
     * is no event.
     */
    private Optional<CompletionQueue> take(boolean woken) {
        lock.lock();
        try {
            Optional<CompletionQueue> event = takeRaised();
            if ((woken || event.isPresent()) && !hasRaised()) {
                library.quiet(wakeDescriptor);
            }
            return event.isEmpty() ? takeNative() : event;
        } finally {
            lock.unlock();
        }
    }

    private Optional<CompletionQueue> takeNative() {
        long queue = library.getCompletionEvent(pointer);
        if (VerbsLibrary.isError(queue)) {
            int errno = (int) -queue;
            if (errno != Errno.EAGAIN && errno != Errno.EINTR && !broken) {
                broken = true;
                LOG.log(
                        System.Logger.Level.ERROR,
                        "ibv_get_cq_event: {0}: {1} delivers no more completion events; close the device and open it again",
                        Errno.text(errno),
                        device.name());
            }
            return Optional.empty();
        }
        // Before the acknowledgement the queue cannot be destroyed, so its address cannot belong to another queue.
        IbvCompletionQueue about = device.shared().completionQueue(queue);
        library.acknowledgeCompletionEvents(queue, 1);
        return about == null ? Optional.empty() : taken(about.arming());
    }

    @Override
    protected void destroy() {
        library.wake(wakeDescriptor);
        while (waiting > 0) {
            left.awaitUninterruptibly();
        }
        try {
            NativeErrors.requireClosed("ibv_destroy_comp_channel", library.destroyCompletionChannel(pointer));
        } finally {
            library.closeDescriptor(wakeDescriptor);
        }
    }
}
