package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.device.IbvCompletionQueue;
import org.softrdma.ibverbs.device.OpenDevice;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** An {@code ibv_cq} by its pointer, and the memory for its native completions. */
final class CoreCompletionQueue extends IbvCompletionQueue {
    private final DeviceContext device;
    private final long pointer;
    private final Arena arena = Arena.ofShared();
    private final long batch;

    /** Wraps a native queue that was just created; its device and channel count it already. */
    CoreCompletionQueue(
            DeviceContext device, OpenDevice counts, long pointer, @Nullable CoreCompletionChannel channel) {
        super(counts, CMemory.getInt(pointer + VerbsAbi.COMPLETION_QUEUE_ENTRIES), channel);
        this.device = device;
        this.pointer = pointer;
        batch = arena.allocate(LARGEST_BATCH * WorkRequestAbi.COMPLETION_BYTES, Long.BYTES)
                .address();
        device.shared().opened(pointer, this);
    }

    /**
     * Creates the native queue.
     *
     * @param counts the device, which counts it already
     * @param minimumEntries checked
     * @param channel gets its events and counts it already; or null
     * @param vector checked
     */
    static CoreCompletionQueue create(
            DeviceContext device,
            OpenDevice counts,
            int minimumEntries,
            @Nullable CoreCompletionChannel channel,
            int vector) {
        long pointer = NativeErrors.require(
                "ibv_create_cq",
                device.library()
                        .createCompletionQueue(
                                device.context(), minimumEntries, 0, channel == null ? 0 : channel.pointer(), vector),
                minimumEntries + " entries, completion vector " + vector + "; ask for fewer, or close some");
        return new CoreCompletionQueue(device, counts, pointer, channel);
    }

    long pointer() {
        return pointer;
    }

    @Override
    protected int pollNatively(int size) {
        int count = device.operations().poll(pointer, size, batch);
        if (count < 0) {
            throw NativeErrors.failed("ibv_poll_cq", count, "the completion queue cannot be polled");
        }
        return count;
    }

    private long completion(int index) {
        return batch + index * WorkRequestAbi.COMPLETION_BYTES;
    }

    @Override
    protected long wrId(int index) {
        return CMemory.getLong(completion(index) + WorkRequestAbi.COMPLETION_WR_ID);
    }

    @Override
    protected int status(int index) {
        return CMemory.getInt(completion(index) + WorkRequestAbi.COMPLETION_STATUS);
    }

    @Override
    protected int opcode(int index) {
        return CMemory.getInt(completion(index) + WorkRequestAbi.COMPLETION_OPCODE);
    }

    @Override
    protected int byteLength(int index) {
        return CMemory.getInt(completion(index) + WorkRequestAbi.COMPLETION_LENGTH);
    }

    @Override
    protected int flags(int index) {
        return CMemory.getInt(completion(index) + WorkRequestAbi.COMPLETION_FLAGS);
    }

    @Override
    protected int immediate(int index) {
        return CMemory.networkOrder(CMemory.getInt(completion(index) + WorkRequestAbi.COMPLETION_IMMEDIATE));
    }

    @Override
    protected int invalidatedKey(int index) {
        return CMemory.getInt(completion(index) + WorkRequestAbi.COMPLETION_IMMEDIATE);
    }

    @Override
    protected int source(int index) {
        return CMemory.getInt(completion(index) + WorkRequestAbi.COMPLETION_SOURCE);
    }

    @Override
    protected int queuePair(int index) {
        return CMemory.getInt(completion(index) + WorkRequestAbi.COMPLETION_QUEUE_PAIR);
    }

    @Override
    protected int vendorError(int index) {
        return CMemory.getInt(completion(index) + WorkRequestAbi.COMPLETION_VENDOR_ERROR);
    }

    @Override
    protected void armNatively(boolean any) {
        int errno = device.operations().requestNotification(pointer, any ? 0 : 1);
        if (errno != 0) {
            throw NativeErrors.failed("ibv_req_notify_cq", errno, "the completion queue cannot be armed");
        }
    }

    @Override
    protected int resizeNatively(int minimumEntries) {
        int errno = Math.abs(device.library().resizeCompletionQueue(pointer, minimumEntries));
        if (errno == Errno.EINVAL) {
            throw new VerbsException(
                    VerbsErrorCode.INVALID,
                    "ibv_resize_cq: " + Errno.text(errno) + ": " + minimumEntries
                            + " entries; poll the queue first, for it must hold what is in it");
        }
        if (errno != 0) {
            throw NativeErrors.failed("ibv_resize_cq", errno, minimumEntries + " entries");
        }
        return CMemory.getInt(pointer + VerbsAbi.COMPLETION_QUEUE_ENTRIES);
    }

    @Override
    protected void destroy() {
        device.shared().closingCompletionQueue(pointer);
        try {
            NativeErrors.requireClosed("ibv_destroy_cq", device.library().destroyCompletionQueue(pointer));
        } finally {
            arena.close();
        }
    }
}
