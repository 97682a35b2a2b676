package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;
import org.agrona.CloseHelper;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdHelloDescriptor;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.stores.herd.wire.HerdWelcomeDescriptor;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A reliable connection. Each WRITE that the server has seen brings one answer, and an answer without a RECV would end
 * the connection; so there are RECVs for two WRITEs into each slot that is in use: the first, and one more.
 *
 * <p>A WRITE that fits is inline; a longer one is signalled, because its slot may be used again only when it has
 * completed, even if the answer is there before.
 */
final class RcChannel implements HerdChannel {
    private static final int ANSWERS_PER_SLOT = 2;
    private static final int BATCH = 32;

    /** Top bits of a wrId: what a completion is of. */
    private static final int KIND_SHIFT = 56;

    private static final long SEND = 1L << KIND_SHIFT;
    private static final long RECEIVE = 2L << KIND_SHIFT;

    private final StoreCounters counters;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final RegisteredMemory replies;
    private final int replyLength;
    private final HerdSends sends;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final HerdWelcome welcome;
    private final RegisteredMemory slots;
    private final long[] writes;
    private boolean closed;

    /**
     * Connects, and waits for the welcome.
     *
     * @param device of the client
     * @param domain of the same device
     * @param context concluded
     * @param counters counts WRITEs and SENDs
     * @param client its name
     * @throws org.softrdma.verbs.VerbsException if there is no connection in time
     * @throws StoreException if the server does not welcome the client, or in no time
     */
    RcChannel(
            VerbsDevice device,
            ProtectionDomain domain,
            StoreClientContext context,
            StoreCounters counters,
            long client) {
        this.counters = counters;
        int receives = ANSWERS_PER_SLOT * context.window() + 1; // one is in its handler
        int capacity = ANSWERS_PER_SLOT * context.window() + 2;
        int inline = Math.min(HerdSends.MOST_INLINE, device.capabilities().maxInline());
        long deadlineNs = context.nanoClock().nanoTime() + context.connectTimeoutNs();
        replyLength = HerdShape.slotLength(
                Math.max(HerdReplyDescriptor.length(context.maxValueLength()), HerdWelcomeDescriptor.LENGTH));
        sends = new HerdSends(capacity, inline);
        completions = device.createCompletionQueue(HerdSends.completions(capacity) + receives);
        RegisteredMemory received = null;
        QueuePair pair = null;
        RegisteredMemory requests = null;
        try (Connector connector = device.resolve(context.servers().getFirst(), context.connectTimeoutNs())) {
            received = new RegisteredMemory(
                    device,
                    domain,
                    Math.multiplyExact(receives + 1, replyLength),
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
            replies = received;
            pair = connector.createQueuePair(
                    domain, QueuePairAttributes.of(completions, new QueuePairLimits(capacity, receives, 1, 1, inline)));
            queuePair = pair;
            for (int receive = 0; receive < receives; receive++) {
                postReceive(receive);
            }
            byte[] ignored = connector.connect(new ConnectionParameters(0, 0, new byte[0]), context.connectTimeoutNs());
            sayHello(receives, client);
            welcome = awaitWelcome(context, deadlineNs);
            requests = new RegisteredMemory(device, domain, welcome.shape().length(), Set.of(AccessFlag.LOCAL_WRITE));
            slots = requests;
            writes = new long[welcome.shape().slots()];
        } catch (RuntimeException e) {
            CloseHelper.closeAll(pair, completions, received, requests);
            throw e;
        }
    }

    private void sayHello(int buffer, long client) {
        long at = (long) buffer * replyLength; // behind those of the RECVs
        HerdHelloDescriptor.put(replies.segment(), at, client);
        int flags = sends.flags(HerdHelloDescriptor.LENGTH, true);
        PostStatus status = queuePair.postSend(
                SEND | sends.nextSequence(), replies.region(), at, HerdHelloDescriptor.LENGTH, flags);
        long ignored = sends.posted(status, flags);
        counters.increment(StoreCounter.SENDS);
    }

    private HerdWelcome awaitWelcome(StoreClientContext context, long deadlineNs) {
        WorkCompletion[] one = WorkCompletion.array(1);
        HerdWelcome told = null;
        while (told == null) {
            int count = completions.poll(one);
            if (count == 0) {
                if (context.nanoClock().nanoTime() - deadlineNs > 0) {
                    throw new StoreException("the server does not welcome the client within its time limit");
                }
                context.idleStrategy().idle();
            } else if (!one[0].isSuccess()) {
                throw new StoreException("the connection has ended before the server's welcome: " + one[0].status());
            } else if ((one[0].wrId() & RECEIVE) != 0) {
                told = welcome(one[0]);
            } else {
                sends.completed(one[0].wrId());
            }
        }
        return told;
    }

    private HerdWelcome welcome(WorkCompletion completion) {
        int receive = (int) completion.wrId();
        long at = (long) receive * replyLength;
        if (!HerdWelcomeDescriptor.isValid(replies.segment(), at, completion.byteLength())) {
            throw new StoreException("this is no server of HERD: its welcome has other bytes");
        }
        HerdWelcome told = HerdWelcomeDescriptor.get(replies.segment(), at);
        postReceive(receive);
        return told;
    }

    private void postReceive(int receive) {
        PostStatus status =
                queuePair.postReceive(RECEIVE | receive, replies.region(), (long) receive * replyLength, replyLength);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for every RECV");
        }
    }

    @Override
    public HerdWelcome welcome() {
        return welcome;
    }

    @Override
    public boolean isReliable() {
        return true;
    }

    @Override
    public boolean mayWriteAgain(int unanswered) {
        return unanswered < ANSWERS_PER_SLOT;
    }

    @Override
    public MemorySegment slots() {
        return slots.segment();
    }

    @Override
    public ByteBuffer view() {
        return slots.view();
    }

    @Override
    public boolean isFree(int slot) {
        return sends.isDone(writes[slot]);
    }

    @Override
    public boolean hasRoom() {
        return !sends.isFull();
    }

    @Override
    public void write(int slot, int length) {
        boolean inline = sends.fitsInline(length);
        int flags = sends.flags(length, !inline);
        long begin = welcome.shape().end(slot) - length;
        PostStatus status = queuePair.postWrite(
                SEND | sends.nextSequence(),
                slots.region(),
                begin,
                length,
                welcome.slots().address() + begin,
                welcome.slots().rkey(),
                flags);
        long number = sends.posted(status, flags);
        if (!inline) {
            writes[slot] = number;
        }
        counters.increment(StoreCounter.WRITES);
    }

    @Override
    public boolean poll(HerdReplyHandler handler) {
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            WorkCompletion completion = batch[i];
            if (closed || !completion.isSuccess()) {
                return false;
            }
            if ((completion.wrId() & RECEIVE) == 0) {
                sends.completed(completion.wrId());
            } else {
                int receive = (int) completion.wrId();
                handler.onMessage(replies.segment(), (long) receive * replyLength, completion.byteLength());
                if (!closed) {
                    postReceive(receive);
                }
            }
        }
        return true;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            CloseHelper.closeAll(queuePair, completions, slots, replies); // no buffer is touched without a queue pair
        }
    }
}
