package org.softrdma.verbs.provider;

import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
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
 * <p>The methods with one local buffer fill a request that this queue pair keeps, under the lock of the queue, so
 * posting allocates nothing. The front refuses before it writes anything: first what no queue pair of this device
 * takes ({@link PostingRules}), then what this one does not take in its state.
 *
 * <p>Threads: any that posts, under the locks that the provider takes in {@link #beginSends} and {@link
 * #beginReceives}.
 */
public abstract class PostingQueuePair implements QueuePair {
    private final PostingRules rules;
    /** Under the lock of the send queue. */
    private final SendWorkRequest oneSend = new SendWorkRequest();
    /** Under the lock of the receive queue. */
    private final ReceiveWorkRequest oneReceive = new ReceiveWorkRequest();

    /**
     * A queue pair with nothing posted.
     *
     * @param rules its limits and its device's
     */
    protected PostingQueuePair(PostingRules rules) {
        this.rules = rules;
    }

    // ---- what a provider does, allocating nothing

    /** Takes the lock of the send queue; refuses a thread that may not post. */
    protected abstract void beginSends();

    /** Releases the lock of the send queue. */
    protected abstract void endSends();

    /** False if the connection allows no request with an answer, a READ for one, in flight. Under the lock of the send queue. */
    protected abstract boolean allowsReads();

    /** Told of a list before the first of its requests is checked and written. Under the lock of the send queue. */
    protected void announce(SendWorkRequestList requests) {}

    /**
     * Does a READ at once, if it needs no device for it. Allocates nothing. Under the lock of the send queue.
     *
     * @param wrId number of the request
     * @param local region of the sink
     * @param offset bytes from the start of that region
     * @param length bytes
     * @param remoteAddress first address at the peer
     * @param rkey the peer's key
     * @param flags {@link org.softrdma.verbs.SendFlags}
     * @return true if its completion is there, too; false if it has to be written
     */
    protected boolean readNow(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        return false;
    }

    /** Most requests that are written before they are given to the device, at least 1. */
    protected int longestChain() {
        return Integer.MAX_VALUE;
    }

    /** True if the device must be given a chain after a request of this kind, before another one is written. */
    protected boolean endsChain(SendOpcode opcode) {
        return false;
    }

    /**
     * Copies a request into the send queue. Under its lock.
     *
     * @param position in the chain that is given to the device at once, from 0
     * @param request checked
     * @return false if the queue is full
     */
    protected abstract boolean write(int position, SendWorkRequest request);

    /**
     * Gives the device what was written. What the device does not take leaves the queue again, also if this throws.
     * Under the lock of the send queue.
     *
     * @param count requests of the chain
     * @return how many the device took; fewer than {@code count} if it is full
     */
    protected int give(int count) {
        return count;
    }

    /** How many requests the send queue has accepted so far. Under its lock. */
    protected abstract long sendsAccepted();

    /** The send queue has accepted something. Under no lock. */
    protected void sendsPosted() {
        // Only where the device is told after the lock was released.
    }

    /** Takes the lock of the receive queue; refuses a thread that may not post. */
    protected abstract void beginReceives();

    /** Releases the lock of the receive queue. */
    protected abstract void endReceives();

    /**
     * Copies a RECV into the receive queue and gives it to the device. Under the lock of the receive queue.
     *
     * @param request checked
     */
    protected abstract PostStatus take(ReceiveWorkRequest request);

    /** True if its RECVs come from a shared queue: none can be posted here. */
    protected boolean sharesReceives() {
        return false;
    }

    /** A RECV may have been posted. Under no lock. */
    protected void receivesPosted() {
        // Only where somebody is told after the lock was released.
    }

    // ---- sends

    @Override
    public final PostStatus postRead(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        rules.check(SendOpcode.READ, local, offset, length, flags);
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.READ);
            status = readNow(wrId, local, offset, length, remoteAddress, rkey, flags)
                    ? PostStatus.ACCEPTED
                    : writeOne(oneSend.read(wrId, remoteAddress, rkey, flags).add(local, offset, length));
        } finally {
            endSends();
        }
        return told(status);
    }

    @Override
    public final PostStatus postWrite(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        rules.check(SendOpcode.WRITE, local, offset, length, flags);
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.WRITE);
            status = writeOne(oneSend.write(wrId, remoteAddress, rkey, flags).add(local, offset, length));
        } finally {
            endSends();
        }
        return told(status);
    }

    @Override
    public final PostStatus postSend(long wrId, MemoryRegion local, long offset, long length, int flags) {
        rules.check(SendOpcode.SEND, local, offset, length, flags);
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.SEND);
            status = writeOne(oneSend.send(wrId, flags).add(local, offset, length));
        } finally {
            endSends();
        }
        return told(status);
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
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.COMPARE_AND_SWAP);
            status = writeOne(oneSend.compareAndSwap(wrId, remoteAddress, rkey, expected, replacement, flags)
                    .add(result, offset, Long.BYTES));
        } finally {
            endSends();
        }
        return told(status);
    }

    @Override
    public final PostStatus postFetchAndAdd(
            long wrId, MemoryRegion result, long offset, long remoteAddress, int rkey, long delta, int flags) {
        rules.check(SendOpcode.FETCH_AND_ADD, result, offset, Long.BYTES, flags);
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.FETCH_AND_ADD);
            status = writeOne(
                    oneSend.fetchAndAdd(wrId, remoteAddress, rkey, delta, flags).add(result, offset, Long.BYTES));
        } finally {
            endSends();
        }
        return told(status);
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
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.WRITE_IMMEDIATE);
            status = writeOne(oneSend.writeImmediate(wrId, remoteAddress, rkey, immediate, flags)
                    .add(local, offset, length));
        } finally {
            endSends();
        }
        return told(status);
    }

    @Override
    public final PostStatus postSendImmediate(
            long wrId, MemoryRegion local, long offset, long length, int immediate, int flags) {
        rules.check(SendOpcode.SEND_IMMEDIATE, local, offset, length, flags);
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.SEND_IMMEDIATE);
            status = writeOne(oneSend.sendImmediate(wrId, immediate, flags).add(local, offset, length));
        } finally {
            endSends();
        }
        return told(status);
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
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.SEND);
            status = writeOne(
                    oneSend.send(wrId, flags).to(host, number, queueKey).add(local, offset, length));
        } finally {
            endSends();
        }
        return told(status);
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
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.SEND_IMMEDIATE);
            status = writeOne(oneSend.sendImmediate(wrId, immediate, flags)
                    .to(host, number, queueKey)
                    .add(local, offset, length));
        } finally {
            endSends();
        }
        return told(status);
    }

    @Override
    public final PostStatus postSendInvalidate(
            long wrId, MemoryRegion local, long offset, long length, int peersKey, int flags) {
        rules.check(SendOpcode.SEND_INVALIDATE, local, offset, length, flags);
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.SEND_INVALIDATE);
            status = writeOne(oneSend.sendInvalidate(wrId, peersKey, flags).add(local, offset, length));
        } finally {
            endSends();
        }
        return told(status);
    }

    @Override
    public final PostStatus postInvalidate(long wrId, int key, int flags) {
        rules.check(SendOpcode.INVALIDATE, flags);
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.INVALIDATE);
            status = writeOne(oneSend.invalidate(wrId, key, flags));
        } finally {
            endSends();
        }
        return told(status);
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
        PostStatus status;
        beginSends();
        try {
            checkSendable(SendOpcode.BIND_WINDOW);
            status = writeOne(oneSend.bindWindow(wrId, window, access, flags).add(region, offset, length));
        } finally {
            endSends();
        }
        return told(status);
    }

    @Override
    public final PostStatus post(SendWorkRequest request) {
        rules.check(request);
        PostStatus status;
        beginSends();
        try {
            checkSendable(request.opcode());
            status = writeOne(request);
        } finally {
            endSends();
        }
        return told(status);
    }

    @Override
    public final PostStatus post(SendWorkRequestList requests) {
        requests.accepted(0);
        beginSends();
        try {
            long before = sendsAccepted();
            try {
                announce(requests);
                return writeAll(requests);
            } finally {
                requests.accepted((int) (sendsAccepted() - before));
            }
        } finally {
            endSends();
            if (requests.accepted() > 0) {
                sendsPosted();
            }
        }
    }

    private PostStatus writeOne(SendWorkRequest request) {
        return write(0, request) && give(1) == 1 ? PostStatus.ACCEPTED : PostStatus.QUEUE_FULL;
    }

    /** Chain by chain. What comes before a request that is refused is given to the device first. */
    private PostStatus writeAll(SendWorkRequestList requests) {
        int next = 0;
        while (next < requests.size()) {
            int wanted = Math.min(requests.size() - next, longestChain());
            int written = 0;
            RuntimeException refusal = null;
            try {
                while (written < wanted && checkAndWrite(written, requests.get(next + written))) {
                    SendOpcode opcode = requests.get(next + written).opcode();
                    written++;
                    wanted = endsChain(opcode) ? written : wanted;
                }
            } catch (RuntimeException e) {
                refusal = e;
            }
            int given = written == 0 ? 0 : give(written);
            next += given;
            if (refusal != null && given == written) {
                throw refusal;
            }
            if (given < wanted) {
                return PostStatus.QUEUE_FULL;
            }
        }
        return PostStatus.ACCEPTED;
    }

    private boolean checkAndWrite(int position, SendWorkRequest request) {
        rules.check(request);
        checkSendable(request.opcode());
        return write(position, request);
    }

    private PostStatus told(PostStatus status) {
        if (status == PostStatus.ACCEPTED) {
            sendsPosted();
        }
        return status;
    }

    private void checkSendable(SendOpcode opcode) {
        QueuePairState now = state();
        if (now == QueuePairState.INITIAL || now == QueuePairState.CLOSED) {
            throw new IllegalStateException(
                    opcode + " on queue pair " + number() + " in state " + now + ": expected READY_TO_SEND");
        }
        if (opcode.isAnswered() && !allowsReads()) {
            throw new IllegalStateException(
                    opcode + " on queue pair " + number() + ": the connection allows none (outbound reads 0)");
        }
    }

    // ---- RECVs

    @Override
    public final PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length) {
        rules.checkLength(length);
        PostStatus status;
        beginReceives();
        try {
            checkReceivable();
            status = take(oneReceive.receive(wrId).add(local, offset, length));
        } finally {
            endReceives();
        }
        receivesPosted();
        return status;
    }

    @Override
    public final PostStatus post(ReceiveWorkRequest request) {
        rules.check(request);
        PostStatus status;
        beginReceives();
        try {
            checkReceivable();
            status = take(request);
        } finally {
            endReceives();
        }
        receivesPosted();
        return status;
    }

    private void checkReceivable() {
        if (state() == QueuePairState.CLOSED) {
            throw new IllegalStateException("RECV on queue pair " + number() + " in state CLOSED");
        }
        if (sharesReceives()) {
            throw new IllegalStateException("RECV on queue pair " + number()
                    + ", which takes its RECVs from a shared receive queue: post it there");
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
