package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.ibverbs.device.IbvQueuePair;
import org.softrdma.ibverbs.device.IbvSharedReceiveQueue;
import org.softrdma.ibverbs.device.QueuePairParts;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;

/** An {@code ibv_qp} by its pointer, and the memory for its work requests. */
final class CoreQueuePair extends IbvQueuePair {
    private final DeviceContext device;
    private final CoreCmId id;
    private final long pointer;
    private final Arena arena = Arena.ofShared();
    private final PostedBinds binds;
    private final PostBuffer buffer;
    private final ReceiveBuffer receives;

    private CoreQueuePair(DeviceContext device, QueuePairParts parts, long pointer, QueuePairLimits limits) {
        super(parts, CMemory.getInt(pointer + VerbsAbi.QUEUE_PAIR_NUMBER), limits);
        this.device = device;
        this.pointer = pointer;
        id = (CoreCmId) parts.id();
        binds = new PostedBinds(limits.maxSendWorkRequests());
        buffer = new PostBuffer(arena, limits.maxSendScatterGather(), device.bindable(), binds);
        receives = new ReceiveBuffer(arena, limits.maxReceiveScatterGather(), device.isSoftIwarp());
        device.shared().opened(pointer, this);
    }

    /**
     * Creates the native queue pair.
     *
     * @param device its device
     * @param parts of the device
     */
    static CoreQueuePair create(DeviceContext device, QueuePairParts parts) {
        try (Arena scratch = Arena.ofConfined()) {
            long init = initialAttributes(scratch, parts);
            long domain = ((CoreProtectionDomain) parts.domain()).pointer();
            long pointer = ((CoreCmId) parts.id()).createQueuePair(domain, init);
            try {
                return new CoreQueuePair(device, parts, pointer, granted(init, parts.limits()));
            } catch (Throwable e) { // an Error, too: nothing else would destroy the queue pair
                parts.id().destroyQueuePair();
                throw e;
            }
        }
    }

    private static long initialAttributes(Arena scratch, QueuePairParts parts) {
        QueuePairLimits asked = parts.limits();
        long sends = ((CoreCompletionQueue) parts.sendCompletions()).pointer();
        long receives = ((CoreCompletionQueue) parts.receiveCompletions()).pointer();
        long init = scratch.allocate(VerbsAbi.QUEUE_PAIR_INIT).address();
        CMemory.putLong(init + VerbsAbi.INIT_SEND_QUEUE, sends);
        CMemory.putLong(init + VerbsAbi.INIT_RECEIVE_QUEUE, receives);
        IbvSharedReceiveQueue shared = parts.sharedReceives();
        if (shared != null) {
            CMemory.putLong(init + VerbsAbi.INIT_SHARED_QUEUE, ((CoreSharedReceiveQueue) shared).pointer());
        }
        CMemory.putInt(init + VerbsAbi.INIT_MAX_SEND, asked.maxSendWorkRequests());
        CMemory.putInt(init + VerbsAbi.INIT_MAX_RECEIVE, asked.maxReceiveWorkRequests());
        CMemory.putInt(init + VerbsAbi.INIT_MAX_SEND_SGE, asked.maxSendScatterGather());
        CMemory.putInt(init + VerbsAbi.INIT_MAX_RECEIVE_SGE, asked.maxReceiveScatterGather());
        CMemory.putInt(init + VerbsAbi.INIT_MAX_INLINE, asked.maxInline());
        CMemory.putInt(init + VerbsAbi.INIT_TYPE, VerbsAbi.RELIABLE_CONNECTION);
        return init;
    }

    /** The limits that the driver has written back, at least those requested. */
    private static QueuePairLimits granted(long init, QueuePairLimits asked) {
        return new QueuePairLimits(
                granted(init + VerbsAbi.INIT_MAX_SEND, asked.maxSendWorkRequests()),
                granted(init + VerbsAbi.INIT_MAX_RECEIVE, asked.maxReceiveWorkRequests()),
                granted(init + VerbsAbi.INIT_MAX_SEND_SGE, asked.maxSendScatterGather()),
                granted(init + VerbsAbi.INIT_MAX_RECEIVE_SGE, asked.maxReceiveScatterGather()),
                granted(init + VerbsAbi.INIT_MAX_INLINE, asked.maxInline()));
    }

    private static int granted(long field, int asked) {
        return Math.max(CMemory.getInt(field), asked);
    }

    // ---- posting

    @Override
    protected int longestChain() {
        return PostBuffer.CHAIN;
    }

    /** librxe reads the window of a bind when it gets the chain, so one bind must be posted before the next is written. */
    @Override
    protected boolean endsChain(SendOpcode opcode) {
        return opcode == SendOpcode.BIND_WINDOW;
    }

    @Override
    protected void sendFailed(long sequence) {
        binds.failed(sequence);
    }

    @Override
    protected void writeSend(int position, SendWorkRequest request, long nativeId, int flags) {
        buffer.send(position, request, nativeId, flags, sendsAccepted());
    }

    @Override
    protected int postSends(WorkRing ring, int count) {
        buffer.endChain(count);
        int taken = 0;
        try {
            int errno = Math.abs(device.operations().postSend(pointer, buffer.sends(), buffer.bad()));
            if (isTaken(errno)) {
                taken = count;
                return count;
            }
            taken = buffer.countBeforeBad(count);
            ring.takeBack(ring.next() - count + taken);
            requireFull("ibv_post_send", errno);
            return taken;
        } finally {
            buffer.posted(taken);
        }
    }

    @Override
    protected boolean postReceive(WorkRing ring, ReceiveWorkRequest request, long nativeId) {
        receives.write(request, nativeId);
        int errno = Math.abs(device.operations().postReceive(pointer, receives.request(), receives.bad()));
        if (isTaken(errno)) {
            return true;
        }
        ring.takeBack(ring.next() - 1);
        requireFull("ibv_post_recv", errno);
        return false;
    }

    private void requireFull(String function, int errno) {
        if (errno != Errno.ENOMEM) {
            throw NativeErrors.failed(function, errno, "queue pair " + number() + " in state " + state());
        }
    }

    // ---- states

    @Override
    protected void moveToError() {
        device.moveToError(pointer);
    }

    @Override
    protected void quiesce() {
        id.disconnect();
        moveToError();
    }

    @Override
    protected void destroy() {
        device.shared().closingQueuePair(pointer);
        id.destroyQueuePair();
        arena.close();
    }
}
