package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client's queues, whatever connects it to its server: how much it has sent, and its RECVs, each with a buffer of its own
 * and posted again when its message was handed on. Owned by the client's thread.
 */
final class ClientQueues implements AutoCloseable {
    /** WRITEs of each slot in use that may be in the send queue. */
    private static final int WRITES_PER_SLOT = 2;

    private static final int OTHER_SENDS = 2;
    private static final int BATCH = 32;

    /** Top bits of a wrId: what a completion is of. */
    private static final int KIND_SHIFT = 56;

    /** Of a request that {@link #sends} counts. */
    static final long SEND = 1L << KIND_SHIFT;

    /** Of one that it does not. */
    static final long OTHER = 2L << KIND_SHIFT;

    private static final long RECEIVE = 3L << KIND_SHIFT;

    private final int capacity;
    private final int inline;
    private final int receives;
    private final int messageLength;
    private final HerdSends sends;
    private final CompletionQueue completions;
    private final RegisteredMemory messages;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private @Nullable QueuePair receiver;
    private @Nullable CompletionStatus failure;
    private int polled;
    private int taken;
    private long others;
    private boolean closed;

    /** Takes messages. */
    @FunctionalInterface
    interface Taker {
        /**
         * A message has come.
         *
         * @param receive number of the RECV, whose buffer is the taker's until this returns
         * @param completion of the RECV
         * @return false if the server must not send it
         */
        boolean received(int receive, WorkCompletion completion);
    }

    /**
     * Queues of a client that has sent nothing yet.
     *
     * @param window slots that may be in use
     * @param receives RECVs
     * @param longest bytes of the longest message
     * @throws StoreException if their buffers have 2^31 bytes or more
     */
    ClientQueues(VerbsDevice device, ProtectionDomain domain, int window, int receives, int longest) {
        this.receives = receives;
        capacity = WRITES_PER_SLOT * window + OTHER_SENDS;
        inline = Math.min(HerdSends.MOST_INLINE, device.capabilities().maxInline());
        messageLength = HerdShape.slotLength(longest);
        sends = new HerdSends(capacity, inline);
        completions = device.createCompletionQueue(HerdSends.completions(capacity) + receives + OTHER_SENDS);
        try {
            messages = new RegisteredMemory(
                    device,
                    domain,
                    memoryLength(receives + 1, messageLength),
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
        } catch (RuntimeException e) {
            CloseHelper.closeAll(completions);
            throw e;
        }
    }

    /**
     * Bytes of some buffers.
     *
     * @throws StoreException if there are 2^31 or more
     */
    static int memoryLength(int count, int each) {
        long length = (long) count * each;
        if (length > Integer.MAX_VALUE) {
            throw new StoreException(count + " buffers of " + each
                    + " bytes: expected less than 2^31 bytes; lower window or maxValueLength");
        }
        return (int) length;
    }

    /** Requests that {@link #sends} has room for. */
    int capacity() {
        return capacity;
    }

    /** Bytes of the longest inline request. */
    int inline() {
        return inline;
    }

    HerdSends sends() {
        return sends;
    }

    /** On which all queue pairs of the client complete. */
    CompletionQueue completions() {
        return completions;
    }

    /** Buffers of all RECVs, and one more behind them for the client's own messages. */
    RegisteredMemory messages() {
        return messages;
    }

    /** The memory of messages. */
    MemorySegment memory() {
        return messages.segment();
    }

    /** Where what a RECV takes begins. */
    long messageAt(int receive) {
        return (long) receive * messageLength;
    }

    /** Where the client's own messages are laid out. */
    long ownAt() {
        return messageAt(receives);
    }

    // ---- receiving

    /** Posts all RECVs to a queue pair with room for them. */
    void receiveBy(QueuePair queuePair) {
        receiver = queuePair;
        for (int receive = 0; receive < receives; receive++) {
            postReceive(queuePair, receive);
        }
    }

    private void postReceive(QueuePair to, int receive) {
        PostStatus status = to.postReceive(RECEIVE | receive, messages.region(), messageAt(receive), messageLength);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for every RECV");
        }
    }

    /**
     * Hands on what has come.
     *
     * @return false if the queues are closed, a queue pair has failed, or a message must not be sent
     */
    boolean poll(Taker taker) {
        if (taken == polled) { // else a taker has thrown
            polled = completions.poll(batch);
            taken = 0;
        }
        while (taken < polled) {
            if (closed || !take(batch[taken++], taker)) {
                return false;
            }
        }
        return true;
    }

    private boolean take(WorkCompletion completion, Taker taker) {
        if (!completion.isSuccess()) {
            failure = completion.status();
            return false;
        }
        long kind = completion.wrId() >>> KIND_SHIFT << KIND_SHIFT;
        if (kind == SEND) {
            sends.completed(completion.wrId());
            return true;
        }
        QueuePair to = receiver;
        if (kind != RECEIVE || to == null) {
            others++;
            return true;
        }
        int receive = (int) completion.wrId();
        try {
            return taker.received(receive, completion);
        } finally {
            if (!closed) {
                postReceive(to, receive);
            }
        }
    }

    /** Why a queue pair has failed; null if none has. */
    @Nullable
    CompletionStatus failure() {
        return failure;
    }

    /** How many requests have completed that {@link #sends} does not count. */
    long others() {
        return others;
    }

    boolean isClosed() {
        return closed;
    }

    /** Once the queue pairs are closed. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            CloseHelper.closeAll(completions, messages);
        }
    }
}
