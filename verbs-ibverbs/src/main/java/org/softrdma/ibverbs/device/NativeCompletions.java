package org.softrdma.ibverbs.device;

import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.WorkCompletion;

/**
 * The native completions of a completion queue, which are polled in batches: what a provider reads in them, and what a
 * success means. Under the queue's lock; allocates nothing.
 */
public abstract class NativeCompletions {
    /** Maximum number of completions in a native poll. */
    protected static final int LARGEST_BATCH = 32;

    /** Nothing polled. */
    NativeCompletions() {}

    // ---- what a provider does

    /**
     * How many completions a native poll asks for.
     *
     * @param room how many completions there is room for, at least 1
     * @return 1 to {@link #LARGEST_BATCH}, at most {@code room}
     */
    protected int batchSize(int room) {
        return Math.min(LARGEST_BATCH, room);
    }

    /**
     * {@code ibv_poll_cq}: the batch of the next calls.
     *
     * @param size of {@link #batchSize}
     * @return how many were polled; fewer than {@code size} if the native queue is empty now
     */
    protected abstract int pollNatively(int size);

    /** {@code wr_id} of a completion of the batch. */
    protected abstract long wrId(int index);

    /** {@code status} of a completion of the batch. */
    protected abstract int status(int index);

    /** {@code opcode} of a successful completion of the batch, if it is no RECV's or {@link #flags} has an immediate. */
    protected abstract int opcode(int index);

    /** {@code byte_len} of a successful completion of the batch, as unsigned. */
    protected abstract int byteLength(int index);

    /** {@code wc_flags} of a RECV's successful completion of the batch; 0 if the device has none. */
    protected int flags(int index) {
        return 0;
    }

    /** {@code imm_data} of a RECV's completion with that flag, in the byte order of this machine. */
    protected int immediate(int index) {
        return 0;
    }

    /** {@code invalidated_rkey} of a RECV's completion with that flag. */
    protected int invalidatedKey(int index) {
        return 0;
    }

    /** {@code src_qp} of a datagram's completion of the batch, where there are queue pairs of datagrams. */
    protected int source(int index) {
        return 0;
    }

    /** {@code qp_num} of a completion of the batch, where there are shared receive queues. */
    protected int queuePair(int index) {
        return 0;
    }

    /** {@code vendor_err} of a failed completion of the batch, 0 if unknown. */
    protected abstract int vendorError(int index);

    // ---- what they mean

    /**
     * Hands out the success of a send work request.
     *
     * @param index in the batch
     * @param wrId the application's number
     * @param number of its queue pair
     * @param to filled in
     */
    final void done(int index, long wrId, int number, WorkCompletion to) {
        CompletionOpcode opcode = CompletionCodes.ofSend(opcode(index));
        boolean atomic = opcode == CompletionOpcode.COMPARE_AND_SWAP || opcode == CompletionOpcode.FETCH_AND_ADD;
        long length = atomic ? Long.BYTES : Integer.toUnsignedLong(byteLength(index));
        to.succeeded(wrId, number, opcode, length);
    }

    /** As {@link #done}, of a RECV. */
    final void received(int index, long wrId, QueuePairWork work, WorkCompletion to) {
        int flags = flags(index);
        CompletionOpcode opcode =
                flags == 0 ? CompletionOpcode.RECEIVE : CompletionCodes.ofReceive(opcode(index), flags);
        to.succeeded(wrId, work.number(), opcode, Integer.toUnsignedLong(byteLength(index)));
        if (work.takesDatagrams()) {
            to.withSource(source(index), (flags & CompletionCodes.WITH_ROUTING_HEADER) != 0);
        }
        if ((flags & CompletionCodes.WITH_IMMEDIATE) != 0) {
            to.withImmediate(immediate(index));
        }
        if ((flags & CompletionCodes.WITH_INVALIDATED_KEY) != 0) {
            to.withInvalidatedKey(invalidatedKey(index));
        }
    }
}
