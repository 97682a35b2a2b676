package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.ibverbs.device.IbvSharedReceiveQueue;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.ReceiveWorkRequest;

/** An {@code ibv_srq} by its pointer, and the memory for its RECVs. */
final class CoreSharedReceiveQueue extends IbvSharedReceiveQueue {
    private final DeviceContext device;
    private final long pointer;
    private final Arena arena = Arena.ofShared();
    private final ReceiveBuffer buffer;

    private CoreSharedReceiveQueue(
            DeviceContext device, Parts parts, long pointer, int maxWorkRequests, int maxScatterGather) {
        super(parts, maxWorkRequests, maxScatterGather);
        this.device = device;
        this.pointer = pointer;
        buffer = new ReceiveBuffer(arena, maxScatterGather, device.isSoftIwarp());
        device.shared().opened(pointer, this);
    }

    /**
     * Creates the native queue.
     *
     * @param parts checked
     * @param nativeDomain pointer of its domain
     */
    static CoreSharedReceiveQueue create(DeviceContext device, Parts parts, long nativeDomain) {
        try (Arena scratch = Arena.ofConfined()) {
            long init = scratch.allocate(VerbsAbi.SHARED_QUEUE_INIT).address();
            CMemory.putInt(init + VerbsAbi.SHARED_INIT_MAX_RECEIVE, parts.maxWorkRequests());
            CMemory.putInt(init + VerbsAbi.SHARED_INIT_MAX_SGE, parts.maxScatterGather());
            long pointer = NativeErrors.require(
                    "ibv_create_srq",
                    device.library().createSharedReceiveQueue(nativeDomain, init),
                    parts.maxWorkRequests() + " RECVs of " + parts.maxScatterGather()
                            + " entries; ask for less, or close some");
            try {
                return new CoreSharedReceiveQueue(
                        device,
                        parts,
                        pointer,
                        granted(init + VerbsAbi.SHARED_INIT_MAX_RECEIVE, parts.maxWorkRequests()),
                        granted(init + VerbsAbi.SHARED_INIT_MAX_SGE, parts.maxScatterGather()));
            } catch (Throwable e) { // an Error, too: nothing else would destroy the queue
                device.library().destroySharedReceiveQueue(pointer);
                throw e;
            }
        }
    }

    private static int granted(long field, int asked) {
        return Math.clamp(CMemory.getInt(field), asked, (int) WorkRing.SEQUENCE_MASK);
    }

    long pointer() {
        return pointer;
    }

    @Override
    protected boolean postNatively(ReceiveWorkRequest request, long nativeId) {
        buffer.write(request, nativeId);
        int errno = Math.abs(device.operations().postSharedReceive(pointer, buffer.request(), buffer.bad()));
        if (errno != 0 && errno != Errno.ENOMEM) {
            throw NativeErrors.failed("ibv_post_srq_recv", errno, "a RECV for the shared receive queue");
        }
        return errno == 0;
    }

    @Override
    protected void limit(int limit) {
        try (Arena scratch = Arena.ofConfined()) {
            long attributes = scratch.allocate(VerbsAbi.SHARED_QUEUE_ATTRIBUTES).address();
            CMemory.putInt(attributes + VerbsAbi.SHARED_QUEUE_LIMIT, limit);
            int errno = Math.abs(device.library().modifySharedReceiveQueue(pointer, attributes, VerbsAbi.MODIFY_LIMIT));
            if (errno != 0) {
                throw NativeErrors.failed("ibv_modify_srq", errno, "a limit of " + limit);
            }
        }
    }

    @Override
    protected void destroy() {
        device.shared().closingSharedReceiveQueue(pointer);
        try {
            NativeErrors.requireClosed("ibv_destroy_srq", device.library().destroySharedReceiveQueue(pointer));
        } finally {
            arena.close();
        }
    }
}
