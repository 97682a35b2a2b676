package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.ibverbs.device.IbvQueuePair;
import org.softrdma.ibverbs.device.IbvSharedReceiveQueue;
import org.softrdma.ibverbs.device.QueuePairParts;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;

/** An {@code ibv_qp} by its pointer, and the memory for its work requests. */
final class CoreQueuePair extends IbvQueuePair {
    /** Nobody shall guess the packets that a queue pair expects. */
    private static final SecureRandom SEQUENCES = new SecureRandom();

    private static final int SEQUENCE_END = 1 << 24;
    private static final Set<AccessFlag> EVERYTHING =
            EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);

    private final DeviceContext device;
    /** Null if the application connects it. */
    private final @Nullable CoreCmId id;

    private final long pointer;
    private final QueuePairMoves moves;
    /** Of the first packet that it sends, where the application connects it; another one after each reset. */
    private volatile int sequence;

    private final int queueKey;

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
        queueKey = parts.queueKey();
        sequence = parts.id() == null ? SEQUENCES.nextInt(SEQUENCE_END) : 0;
        moves = new QueuePairMoves(device, pointer, parts.type());
        buffer = new PostBuffer(arena, limits.maxSendScatterGather(), parts, device.bindable(), binds);
        receives = new ReceiveBuffer(arena, limits.maxReceiveScatterGather(), device.isSoftIwarp());
        device.shared().opened(pointer, this);
    }

    /**
     * Creates the native queue pair.
     *
     * @param parts of the device
     */
    static CoreQueuePair create(DeviceContext device, QueuePairParts parts) {
        try (Arena scratch = Arena.ofConfined()) {
            long init = initialAttributes(scratch, parts);
            long domain = ((CoreProtectionDomain) parts.domain()).pointer();
            if (parts.id() == null) {
                return createUnconnected(device, parts, domain, init);
            }
            long pointer = ((CoreCmId) parts.requireId()).createQueuePair(domain, init);
            try {
                return new CoreQueuePair(device, parts, pointer, granted(init, parts.limits()));
            } catch (Throwable e) { // an Error, too: nothing else would destroy the queue pair
                parts.requireId().destroyQueuePair();
                throw e;
            }
        }
    }

    private static CoreQueuePair createUnconnected(DeviceContext device, QueuePairParts parts, long domain, long init) {
        OwnGid own = device.ownGid(); // refused here if there is none, and not when it is to connect
        long pointer = NativeErrors.require(
                "ibv_create_qp",
                device.library().createQueuePair(domain, init),
                "the device " + own.host().getHostAddress() + " refuses a queue pair of type " + parts.type()
                        + " of this size; request less");
        CoreQueuePair made;
        try {
            made = new CoreQueuePair(device, parts, pointer, granted(init, parts.limits()));
        } catch (Throwable e) {
            device.library().destroyQueuePair(pointer);
            throw e;
        }
        try {
            made.initialiseNatively(EVERYTHING);
            return made;
        } catch (Throwable e) {
            made.destroy();
            throw e;
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
        CMemory.putInt(init + VerbsAbi.INIT_TYPE, QueuePairCodes.type(parts.type()));
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

    // ---- without an id

    @Override
    protected QueuePairAddress localAddress() {
        return new QueuePairAddress(
                device.ownGid().address(),
                number(),
                sequence,
                device.capabilities().maxTransferUnit());
    }

    @Override
    protected void receiveNatively(ReceiveAttributes attributes) {
        moves.readyToReceive(attributes, localAddress().maxTransferUnit());
    }

    @Override
    protected void sendNatively(SendAttributes attributes) {
        moves.readyToSend(attributes, sequence);
    }

    @Override
    protected void drainNatively() {
        moves.drain();
    }

    @Override
    protected void resumeNatively(@Nullable SendAttributes changed) {
        moves.resume(changed);
    }

    @Override
    protected void permitNatively(Set<AccessFlag> rights) {
        moves.permit(rights);
    }

    @Override
    protected void resetNatively() {
        moves.reset();
        sequence = SEQUENCES.nextInt(SEQUENCE_END);
    }

    @Override
    protected void initialiseNatively(Set<AccessFlag> rights) {
        moves.begin(queueKey, sequence, rights);
    }

    // ---- states

    @Override
    protected void moveToError() {
        device.moveToError(pointer);
    }

    @Override
    protected void quiesce() {
        if (id != null) {
            id.disconnect();
        }
        moveToError();
    }

    @Override
    protected void destroy() {
        device.shared().closingQueuePair(pointer);
        if (id != null) {
            id.destroyQueuePair();
        } else {
            device.library().destroyQueuePair(pointer);
        }
        arena.close();
    }
}
