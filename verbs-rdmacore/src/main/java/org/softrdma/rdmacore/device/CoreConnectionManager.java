package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.CmEventType;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.device.CmEvent;
import org.softrdma.ibverbs.device.CmId;
import org.softrdma.ibverbs.device.ConnectionManager;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.ConnectionManagerAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;

/**
 * A {@code rdma_event_channel} and the thread that waits in {@code poll(2)}; it also reads the context's asynchronous
 * events.
 */
final class CoreConnectionManager extends ConnectionManager {
    /** A pause after an unexpected error of the channel, so as not to spin. */
    private static final int ERROR_PAUSE_MS = 100;

    private static final int DESCRIPTORS = 3;
    /** {@code poll(2)} ignores it. */
    private static final int NO_DESCRIPTOR = -1;

    private static final long DESCRIPTOR_BYTES = ConnectionManagerAbi.POLL_DESCRIPTOR.byteSize();

    private final DeviceContext device;
    private final VerbsLibrary library;
    private final long channel;
    private final int wakeDescriptor;
    private final Arena arena = Arena.ofShared();
    /** {@code pollfd}s of the channel, the wake descriptor, and the asynchronous events. */
    private final long descriptors;

    /**
     * Opens an event channel, whose thread is not started yet.
     *
     * @param device whose context is shared already
     */
    CoreConnectionManager(DeviceContext device) {
        this.device = device;
        library = device.library();
        channel = NativeErrors.require(
                "rdma_create_event_channel", library.createEventChannel(), "load the module: modprobe rdma_ucm");
        wakeDescriptor = library.createWakeDescriptor();
        if (wakeDescriptor < 0) {
            library.destroyEventChannel(channel);
            throw NativeErrors.failed("eventfd", wakeDescriptor, "a descriptor; raise ulimit -n");
        }
        int channelDescriptor = CMemory.getInt(channel + ConnectionManagerAbi.EVENT_CHANNEL_FD);
        library.setNonBlocking(channelDescriptor);
        descriptors = arena.allocate(
                        DESCRIPTORS * DESCRIPTOR_BYTES, ConnectionManagerAbi.POLL_DESCRIPTOR.byteAlignment())
                .address();
        watch(descriptors, channelDescriptor);
        watch(descriptors + DESCRIPTOR_BYTES, wakeDescriptor);
        watch(descriptors + 2 * DESCRIPTOR_BYTES, device.shared().descriptor());
    }

    /** Fills a {@code pollfd}. */
    static void watch(long pollDescriptor, int descriptor) {
        CMemory.putInt(pollDescriptor + ConnectionManagerAbi.POLL_FD, descriptor);
        CMemory.putShort(pollDescriptor + ConnectionManagerAbi.POLL_EVENTS, ConnectionManagerAbi.POLL_READABLE);
        CMemory.putShort(pollDescriptor + ConnectionManagerAbi.POLL_REVENTS, (short) 0);
    }

    /** The result of {@code poll(2)} for a {@code pollfd}; an error counts as readable. */
    static boolean isReadable(long pollDescriptor) {
        return CMemory.getShort(pollDescriptor + ConnectionManagerAbi.POLL_REVENTS) != 0;
    }

    @Override
    protected CmId createId() {
        return createId(ConnectionManagerAbi.PORT_SPACE_TCP, "a connection id");
    }

    @Override
    protected CmId createDatagramId() {
        return createId(ConnectionManagerAbi.PORT_SPACE_UDP, "an id of datagrams");
    }

    private CmId createId(int portSpace, String what) {
        return adopt(new CoreCmId(
                device,
                this,
                NativeErrors.require("rdma_create_id", library.createId(channel, channel, portSpace), what)));
    }

    @Override
    protected void wake() {
        library.wake(wakeDescriptor);
    }

    @Override
    protected void takeEvents() {
        int ready = library.poll(descriptors, DESCRIPTORS, -1);
        if (ready < 0 && ready != -Errno.EINTR) {
            library.poll(descriptors, 0, ERROR_PAUSE_MS);
        }
        if (isReadable(descriptors + DESCRIPTOR_BYTES)) {
            library.quiet(wakeDescriptor);
        }
        Optional<Runnable> delivery = callExclusively(this::takeEvent);
        while (delivery.isPresent()) {
            delivery.get().run();
            delivery = callExclusively(this::takeEvent);
        }
        if (isReadable(descriptors + 2 * DESCRIPTOR_BYTES)) {
            guarded(this::takeAsyncEvents);
        }
    }

    private void takeAsyncEvents() {
        if (!device.shared().take()) {
            watch(descriptors + 2 * DESCRIPTOR_BYTES, NO_DESCRIPTOR);
        }
    }

    /** Takes an event and returns its delivery, empty if there was none. */
    private Optional<Runnable> takeEvent() {
        long event = library.getConnectionEvent(channel);
        if (VerbsLibrary.isError(event)) {
            return Optional.empty();
        }
        try {
            return Optional.of(deliveryOf(event));
        } finally {
            library.acknowledgeConnectionEvent(event);
        }
    }

    private Runnable deliveryOf(long event) {
        long id = CMemory.getLong(event + ConnectionManagerAbi.EVENT_ID);
        CmEvent copy = copyOf(event, id);
        if (copy.type() == CmEventType.CONNECT_REQUEST) {
            long listener = CMemory.getLong(event + ConnectionManagerAbi.EVENT_LISTEN_ID);
            // Before the acknowledgement: the next event may be about this id.
            CmId request = adopt(new CoreCmId(device, this, id));
            return requestDelivery(listener, request, copy);
        }
        return delivery(id, copy);
    }

    /** Copies a {@code struct rdma_cm_event}, before it is acknowledged. */
    private static CmEvent copyOf(long event, long id) {
        long parameters = event + ConnectionManagerAbi.EVENT_PARAMETERS;
        long data = CMemory.getLong(parameters + ConnectionManagerAbi.PARAMETERS_DATA);
        int length = unsignedByte(parameters + ConnectionManagerAbi.PARAMETERS_DATA_LENGTH);
        return new CmEvent(
                CmEventType.ofCode(CMemory.getInt(event + ConnectionManagerAbi.EVENT_TYPE)),
                OptionalInt.of(CMemory.getInt(event + ConnectionManagerAbi.EVENT_STATUS)),
                data == 0 ? new byte[0] : CMemory.getBytes(data, length),
                OptionalInt.of(unsignedByte(parameters + ConnectionManagerAbi.PARAMETERS_RESPONDER_RESOURCES)),
                OptionalInt.of(unsignedByte(parameters + ConnectionManagerAbi.PARAMETERS_INITIATOR_DEPTH)),
                datagrams(parameters, id));
    }

    private static CmEvent.@Nullable Datagrams datagrams(long parameters, long id) {
        boolean has = CMemory.getInt(id + ConnectionManagerAbi.ID_PORT_SPACE) == ConnectionManagerAbi.PORT_SPACE_UDP;
        return has
                ? new CmEvent.Datagrams(
                        CMemory.getInt(parameters + ConnectionManagerAbi.DATAGRAM_QUEUE_PAIR),
                        CMemory.getInt(parameters + ConnectionManagerAbi.DATAGRAM_QUEUE_KEY))
                : null;
    }

    private static int unsignedByte(long address) {
        return CMemory.getByte(address) & 0xFF;
    }

    @Override
    protected void closeChannel() {
        library.closeDescriptor(wakeDescriptor);
        library.destroyEventChannel(channel);
        arena.close();
    }
}
