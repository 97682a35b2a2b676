package org.softrdma.verbs.provider;

import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;

/** A queue pair that writes requests to a chain and gives its device the chain as a whole. */
public abstract class ChainingQueuePair extends PostingQueuePair {
    /**
     * A queue pair with nothing posted.
     *
     * @param rules its limits and its device's
     * @param sendGate of its send queue
     * @param receiveGate of its receive queue
     */
    protected ChainingQueuePair(PostingRules rules, PostGate sendGate, PostGate receiveGate) {
        super(rules, sendGate, receiveGate);
    }

    // ---- what a provider does behind the gate, allocating nothing

    /** False if the connection allows no request with an answer, a READ for one, in flight. */
    protected abstract boolean allowsReads();

    /** Most requests that are written before they are given to the device, at least 1. */
    protected int longestChain() {
        return Integer.MAX_VALUE;
    }

    /** True if the device must be given a chain after a request of this kind, before another one is written. */
    protected boolean endsChain(SendOpcode opcode) {
        return false;
    }

    /**
     * Copies a request into the send queue.
     *
     * @param position in the chain that is given to the device at once, from 0
     * @param request checked
     * @return false if the queue is full
     */
    protected abstract boolean write(int position, SendWorkRequest request);

    /**
     * Gives the device what was written. What the device does not take leaves the queue again, also if this throws.
     *
     * @param count requests of the chain
     * @return how many the device took; fewer than {@code count} if it is full
     */
    protected abstract int give(int count);

    /** How many requests the send queue has accepted so far. */
    protected abstract long sendsAccepted();

    /** True if its RECVs come from a shared queue: none can be posted here. */
    protected abstract boolean sharesReceives();

    /**
     * Copies a RECV into the receive queue and gives it to the device.
     *
     * @param request checked
     */
    protected abstract PostStatus take(ReceiveWorkRequest request);

    // ---- chains

    @Override
    protected final PostStatus submit(SendWorkRequest request) {
        checkSendable(request.opcode());
        return write(0, request) && give(1) == 1 ? PostStatus.ACCEPTED : PostStatus.QUEUE_FULL;
    }

    @Override
    protected final PostStatus submit(SendWorkRequestList requests) {
        long before = sendsAccepted();
        try {
            return writeAll(requests);
        } finally {
            requests.accepted((int) (sendsAccepted() - before));
        }
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

    private void checkSendable(SendOpcode opcode) {
        PostingRules.checkSendable(opcode, number(), state(), allowsReads());
    }

    @Override
    protected final PostStatus submit(ReceiveWorkRequest request) {
        PostingRules.checkReceivable(number(), state(), sharesReceives());
        return take(request);
    }
}
