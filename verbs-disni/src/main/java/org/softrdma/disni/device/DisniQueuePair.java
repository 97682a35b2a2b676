package org.softrdma.disni.device;

import java.io.IOException;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.ibverbs.device.IbvQueuePair;
import org.softrdma.ibverbs.device.QueuePairParts;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.VerbsException;

/**
 * An {@code ibv_qp} of DiSNI, and the prepared calls that post to it. DiSNI has no {@code ibv_modify_qp}, but {@code
 * rdma_disconnect} moves the queue pair to {@code IBV_QPS_ERR} before anything else (on iWARP {@code IBV_QPS_SQD}).
 */
final class DisniQueuePair extends IbvQueuePair {
    private final DisniCmId id;
    /** libsiw refuses a RECV without entries. */
    private final boolean needsReceiveEntry;

    private final PreparedCalls calls;

    private DisniQueuePair(QueuePairParts parts, DisniLibrary.Pair pair) {
        super(parts, DisniErrors.make(pair::number, "the number of a queue pair"), parts.limits());
        id = (DisniCmId) parts.requireId();
        needsReceiveEntry = parts.device().traits().isSoftIwarp();
        calls = new PreparedCalls(pair, parts.device().traits().capabilities().maxScatterGather());
    }

    /**
     * Creates the native queue pair.
     *
     * @param parts of the device
     */
    static DisniQueuePair create(QueuePairParts parts) {
        DisniLibrary.Pair pair = ((DisniCmId) parts.requireId())
                .createQueuePair(
                        ((DisniProtectionDomain) parts.domain()).handle(),
                        ((DisniCompletionQueue) parts.sendCompletions()).handle(),
                        ((DisniCompletionQueue) parts.receiveCompletions()).handle(),
                        parts.limits());
        try {
            return new DisniQueuePair(parts, pair);
        } catch (Throwable e) { // an Error, too: nothing else would destroy the queue pair
            parts.requireId().destroyQueuePair();
            throw e;
        }
    }

    // ---- posting

    /** Posts one by one: DiSNI does not say which request of a chain was refused. */
    @Override
    protected int longestChain() {
        return 1;
    }

    @Override
    protected void writeSend(int position, SendWorkRequest request, long nativeId, int flags) {
        try {
            DisniLibrary.PreparedSend call =
                    calls.send(request.opcode(), request.local().size());
            PreparedCalls.fill(call, request.local());
            call.request(nativeId, flags, request.remoteAddress(), request.rkey());
        } catch (IOException e) {
            throw notPosted(e);
        }
    }

    @Override
    protected int postSends(WorkRing ring, int count) {
        return execute(calls.send(), ring) ? 1 : 0;
    }

    @Override
    protected boolean postReceive(WorkRing ring, ReceiveWorkRequest request, long nativeId) {
        DisniLibrary.PreparedReceive call;
        try {
            call = receive(request.local());
        } catch (IOException e) {
            ring.takeBack(ring.next() - 1);
            throw notPosted(e);
        }
        call.request(nativeId);
        return execute(call, ring);
    }

    private DisniLibrary.PreparedReceive receive(ScatterGatherList local) throws IOException {
        boolean none = local.size() == 0 && needsReceiveEntry;
        DisniLibrary.PreparedReceive call = calls.receive(none ? 1 : local.size());
        if (none) {
            call.entry(0, 0, 0, 0);
        } else {
            PreparedCalls.fill(call, local);
        }
        return call;
    }

    /** Posts the last request of a ring; false if the device is full. */
    private boolean execute(DisniLibrary.PreparedPost call, WorkRing ring) {
        try {
            call.execute();
            return true;
        } catch (IOException e) {
            int errno = DisniErrors.errno(e);
            if (errno != 0 && isTaken(errno)) {
                return true;
            }
            ring.takeBack(ring.next() - 1);
            if (errno != Errno.ENOMEM) {
                throw notPosted(e);
            }
            return false;
        }
    }

    private VerbsException notPosted(IOException e) {
        return DisniErrors.failed(e, "nothing was posted to queue pair " + number() + " in state " + state());
    }

    // ---- states

    @Override
    protected void moveToError() {
        id.disconnect();
    }

    @Override
    protected void quiesce() {
        id.disconnect();
    }

    @Override
    protected void destroy() {
        try {
            id.destroyQueuePair();
        } finally {
            calls.free();
        }
    }
}
