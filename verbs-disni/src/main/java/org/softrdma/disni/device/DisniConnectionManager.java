package org.softrdma.disni.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.CmEventType;
import org.softrdma.ibverbs.device.CmEvent;
import org.softrdma.ibverbs.device.CmId;
import org.softrdma.ibverbs.device.ConnectionManager;

/**
 * A channel of DiSNI and the thread that waits on it, in slices, because only an event ends a wait of DiSNI. Slices are
 * short while connections begin and end, longer when nothing happens.
 *
 * <p>DiSNI finds ids in a map that is not thread-safe, so creating ids and waiting for events exclude each other, too.
 */
final class DisniConnectionManager extends ConnectionManager {
    private static final System.Logger LOG = System.getLogger(DisniConnectionManager.class.getName());
    private static final int SHORT_SLICE_MS = 1;
    private static final int LONG_SLICE_MS = 20;
    /** Number of short slices without an event, after which slices become longer. */
    private static final int SHORT_SLICES = 1000;

    private final DisniLibrary.EventChannel channel;
    private final InetSocketAddress address;
    private volatile int shortSlices = SHORT_SLICES;

    /**
     * Wraps an open channel.
     *
     * @param channel closed with this
     * @param address of the device, with port 0
     */
    DisniConnectionManager(DisniLibrary.EventChannel channel, InetSocketAddress address) {
        this.channel = channel;
        this.address = address;
    }

    @Override
    protected CmId createId() {
        wake();
        return callExclusively(
                () -> adopt(new DisniCmId(address, this, DisniErrors.make(channel::createId, "a connection id"))));
    }

    @Override
    protected void exclusively(Runnable action) {
        wake();
        super.exclusively(action);
    }

    /** Wakes the thread within a slice; slices are short from now on. */
    @Override
    protected void wake() {
        shortSlices = SHORT_SLICES;
    }

    /**
     * Waits for a slice. If the wait ends early without an event, the channel has failed, and the rest of the slice is
     * waited here, so as not to spin.
     */
    @Override
    protected void takeEvents() {
        int left = shortSlices;
        int sliceMs = left > 0 ? SHORT_SLICE_MS : LONG_SLICE_MS;
        if (left > 0) {
            shortSlices = left - 1;
        }
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(sliceMs);
        Optional<DisniLibrary.Event> event = callExclusively(() -> next(sliceMs));
        if (event.isPresent()) {
            shortSlices = SHORT_SLICES;
            deliver(event.get());
        } else {
            LockSupport.parkNanos(endNs - System.nanoTime());
        }
    }

    private Optional<DisniLibrary.Event> next(int sliceMs) {
        try {
            return Optional.ofNullable(channel.next(sliceMs));
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "cannot read a connection event; trying again", e);
            return Optional.empty();
        }
    }

    private void deliver(DisniLibrary.Event event) {
        DisniLibrary.Id about = event.id();
        if (about == null) {
            return; // of an id that is gone
        }
        CmEvent happened = CmEvent.of(event.type());
        if (event.type() == CmEventType.CONNECT_REQUEST) {
            requestDelivery(event.listener(), adopt(new DisniCmId(address, this, about)), happened)
                    .run();
        } else {
            delivery(about, happened).run();
        }
    }

    @Override
    protected void closeChannel() {
        DisniErrors.run(channel::destroy, "the event channel");
    }
}
