package org.softrdma.verbs.provider;

import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;

/**
 * The posting front of a queue pair: it turns every way to post into one checked {@link SendWorkRequest} or {@link
 * ReceiveWorkRequest}, which the provider takes. A new kind of request needs a method here and a case in the
 * provider's switch over {@link SendOpcode}, but no new method in any provider.
 *
 * <p>A post goes down once: the front enters the {@link PostGate} of the queue, fills a request that this queue pair
 * keeps, so that posting allocates nothing, and submits it. It refuses what no queue pair of this device takes ({@link
 * PostingRules}); the provider refuses what this one does not take in its state.
 *
 * <p>Threads: any that posts, one at a time behind the gate of either queue.
 */
public abstract class PostingQueuePair implements QueuePair {
    /** Its limits and its device's. */
    protected final PostingRules rules;

    private final PostGate sendGate;
    private final PostGate receiveGate;
    /** Behind the gate of the send queue. */
    private final SendWorkRequest oneSend = new SendWorkRequest();
    /** Behind the gate of the receive queue. */
    private final ReceiveWorkRequest oneReceive = new ReceiveWorkRequest();

    /**
     * A queue pair with nothing posted.
     *
     * @param rules its limits and its device's
     * @param sendGate of its send queue
     * @param receiveGate of its receive queue, perhaps the same
     */
    protected PostingQueuePair(PostingRules rules, PostGate sendGate, PostGate receiveGate) {
        this.rules = rules;
        this.sendGate = sendGate;
        this.receiveGate = receiveGate;
    }

    // ---- what a provider does behind the gate, allocating nothing

    /**
     * Takes a request, whatever its state allows ({@link PostingRules#checkSendable}).
     *
     * @param request checked
     * @return {@code QUEUE_FULL} if there is no room
     */
    protected abstract PostStatus submit(SendWorkRequest request);

    /**
     * Takes the requests of a list, until one is refused or does not fit, and says how many it took ({@link
     * SendWorkRequestList#accepted(int)}), also if this throws.
     *
     * @param requests not checked
     * @return {@code QUEUE_FULL} if one did not fit
     */
    protected abstract PostStatus submit(SendWorkRequestList requests);

    /**
     * Takes a RECV, if its state allows ({@link PostingRules#checkReceivable}).
     *
     * @param request checked
     * @return {@code QUEUE_FULL} if there is no room
     */
    protected abstract PostStatus submit(ReceiveWorkRequest request);

    // ---- sends

    @Override
    public final PostStatus postRead(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        rules.check(SendOpcode.READ, local, offset, length, flags);
        sendGate.enter();
        try {
            return submit(oneSend.read(wrId, remoteAddress, rkey, flags).add(local, offset, length));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postWrite(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        rules.check(SendOpcode.WRITE, local, offset, length, flags);
        sendGate.enter();
        try {
            return submit(oneSend.write(wrId, remoteAddress, rkey, flags).add(local, offset, length));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postSend(long wrId, MemoryRegion local, long offset, long length, int flags) {
        rules.check(SendOpcode.SEND, local, offset, length, flags);
        sendGate.enter();
        try {
            return submit(oneSend.send(wrId, flags).add(local, offset, length));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postCompareAndSwap(
            long wrId,
            MemoryRegion result,
            long offset,
            long remoteAddress,
            int rkey,
            long expected,
            long replacement,
            int flags) {
        rules.check(SendOpcode.COMPARE_AND_SWAP, result, offset, Long.BYTES, flags);
        sendGate.enter();
        try {
            return submit(oneSend.compareAndSwap(wrId, remoteAddress, rkey, expected, replacement, flags)
                    .add(result, offset, Long.BYTES));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postFetchAndAdd(
            long wrId, MemoryRegion result, long offset, long remoteAddress, int rkey, long delta, int flags) {
        rules.check(SendOpcode.FETCH_AND_ADD, result, offset, Long.BYTES, flags);
        sendGate.enter();
        try {
            return submit(
                    oneSend.fetchAndAdd(wrId, remoteAddress, rkey, delta, flags).add(result, offset, Long.BYTES));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postWriteImmediate(
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            long remoteAddress,
            int rkey,
            int immediate,
            int flags) {
        rules.check(SendOpcode.WRITE_IMMEDIATE, local, offset, length, flags);
        sendGate.enter();
        try {
            return submit(oneSend.writeImmediate(wrId, remoteAddress, rkey, immediate, flags)
                    .add(local, offset, length));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postSendImmediate(
            long wrId, MemoryRegion local, long offset, long length, int immediate, int flags) {
        rules.check(SendOpcode.SEND_IMMEDIATE, local, offset, length, flags);
        sendGate.enter();
        try {
            return submit(oneSend.sendImmediate(wrId, immediate, flags).add(local, offset, length));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postSendTo(
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            AddressHandle host,
            int number,
            int queueKey,
            int flags) {
        rules.checkDatagram(SendOpcode.SEND, local, offset, length, flags);
        sendGate.enter();
        try {
            return submit(oneSend.send(wrId, flags).to(host, number, queueKey).add(local, offset, length));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postSendImmediateTo(
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            AddressHandle host,
            int number,
            int queueKey,
            int immediate,
            int flags) {
        rules.checkDatagram(SendOpcode.SEND_IMMEDIATE, local, offset, length, flags);
        sendGate.enter();
        try {
            return submit(oneSend.sendImmediate(wrId, immediate, flags)
                    .to(host, number, queueKey)
                    .add(local, offset, length));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postSendInvalidate(
            long wrId, MemoryRegion local, long offset, long length, int peersKey, int flags) {
        rules.check(SendOpcode.SEND_INVALIDATE, local, offset, length, flags);
        sendGate.enter();
        try {
            return submit(oneSend.sendInvalidate(wrId, peersKey, flags).add(local, offset, length));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postInvalidate(long wrId, int key, int flags) {
        rules.check(SendOpcode.INVALIDATE, flags);
        sendGate.enter();
        try {
            return submit(oneSend.invalidate(wrId, key, flags));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus postBindWindow(
            long wrId,
            MemoryWindow window,
            MemoryRegion region,
            long offset,
            long length,
            Set<AccessFlag> access,
            int flags) {
        rules.check(SendOpcode.BIND_WINDOW, region, offset, length, flags);
        rules.checkWindowAccess(access);
        sendGate.enter();
        try {
            return submit(oneSend.bindWindow(wrId, window, access, flags).add(region, offset, length));
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus post(SendWorkRequest request) {
        rules.check(request);
        sendGate.enter();
        try {
            return submit(request);
        } finally {
            sendGate.exit();
        }
    }

    @Override
    public final PostStatus post(SendWorkRequestList requests) {
        requests.accepted(0);
        sendGate.enter();
        try {
            return submit(requests);
        } finally {
            sendGate.exit();
        }
    }

    // ---- RECVs

    @Override
    public final PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length) {
        rules.checkLength(length);
        receiveGate.enter();
        try {
            return submit(oneReceive.receive(wrId).add(local, offset, length));
        } finally {
            receiveGate.exit();
        }
    }

    @Override
    public final PostStatus post(ReceiveWorkRequest request) {
        rules.check(request);
        receiveGate.enter();
        try {
            return submit(request);
        } finally {
            receiveGate.exit();
        }
    }

    @Override
    public final QueuePairType type() {
        return rules.type();
    }

    @Override
    public final QueuePairLimits limits() {
        return rules.limits();
    }
}
