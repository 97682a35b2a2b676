package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Set;
import org.agrona.CloseHelper;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdHelloDescriptor;
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
 * A client's end of a reliable connection, but for the way of the answers.
 *
 * <p>A WRITE that fits is inline; a longer one is signalled, because its slot may be used again only when it has
 * completed, even if the answer is there before.
 */
abstract class RcChannel implements HerdChannel {
    /** WRITEs of each slot in use that may be in the send queue. */
    private static final int WRITES_PER_SLOT = 2;

    private static final int OTHER_SENDS = 2;
    private static final int BATCH = 32;

    /** Bytes of the buffer of each message of the client. */
    private static final int MESSAGE_ROOM = 32;

    /** Top bits of a wrId: what a completion is of. */
    private static final int KIND_SHIFT = 56;

    private static final long SEND = 1L << KIND_SHIFT;
    private static final long RECEIVE = 2L << KIND_SHIFT;

    private final StoreCounters counters;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final RegisteredMemory messages;
    private final int messageLength;
    private final int receives;
    private final HerdSends sends;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final HerdWelcome welcome;
    private final RegisteredMemory slots;
    private final RequestWrites writes;
    private boolean closed;

    /** What a connection needs. */
    record Connecting(
            VerbsDevice device,
            ProtectionDomain domain,
            StoreClientContext context,
            StoreCounters counters,
            long client,
            InetSocketAddress server) {}

    /**
     * Connects, and waits for the welcome.
     *
     * @param by who, and where
     * @param receives RECVs that are posted
     * @param longest bytes of the longest message that comes
     * @throws org.softrdma.verbs.VerbsException if there is no connection in time
     * @throws StoreException if the server does not welcome the client, or in no time
     */
    RcChannel(Connecting by, int receives, int longest) {
        VerbsDevice device = by.device();
        ProtectionDomain domain = by.domain();
        StoreClientContext context = by.context();
        counters = by.counters();
        this.receives = receives;
        int capacity = WRITES_PER_SLOT * context.window() + OTHER_SENDS;
        int inline = Math.min(HerdSends.MOST_INLINE, device.capabilities().maxInline());
        long deadlineNs = context.nanoClock().nanoTime() + context.connectTimeoutNs();
        messageLength = HerdShape.slotLength(Math.max(longest, HerdWelcomeDescriptor.LENGTH));
        sends = new HerdSends(capacity, inline);
        completions = device.createCompletionQueue(HerdSends.completions(capacity) + receives);
        RegisteredMemory received = null;
        QueuePair pair = null;
        RegisteredMemory requests = null;
        try (Connector connector = device.resolve(by.server(), context.connectTimeoutNs())) {
            received = new RegisteredMemory(
                    device,
                    domain,
                    memoryLength(receives + 1, messageLength),
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
            messages = received;
            pair = connector.createQueuePair(
                    domain, QueuePairAttributes.of(completions, new QueuePairLimits(capacity, receives, 1, 1, inline)));
            queuePair = pair;
            for (int receive = 0; receive < receives; receive++) {
                postReceive(receive);
            }
            byte[] ignored = connector.connect(new ConnectionParameters(0, 0, new byte[0]), context.connectTimeoutNs());
            sayHello(by.client());
            welcome = awaitWelcome(context, deadlineNs);
            requests = new RegisteredMemory(device, domain, welcome.shape().length(), Set.of(AccessFlag.LOCAL_WRITE));
            slots = requests;
            writes = new RequestWrites(queuePair, sends, slots, welcome, counters, SEND);
        } catch (RuntimeException e) {
            CloseHelper.closeAll(pair, completions, received, requests);
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

    private void sayHello(long client) {
        HerdHelloDescriptor.put(messages.segment(), helloAt(), client);
        say(helloAt(), HerdHelloDescriptor.LENGTH);
    }

    private long helloAt() {
        return messageAt(receives); // behind the buffers of RECVs
    }

    /** Where a second message of the client is laid out: behind the first one, which may be on its way still. */
    protected final long secondAt() {
        return helloAt() + MESSAGE_ROOM;
    }

    /** The memory of messages. */
    protected final MemorySegment messages() {
        return messages.segment();
    }

    /** SENDs a message, before the first WRITE. */
    protected final void say(long at, int length) {
        int flags = sends.flags(length, true);
        PostStatus status = queuePair.postSend(SEND | sends.nextSequence(), messages.region(), at, length, flags);
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
        long at = messageAt(receive);
        if (!HerdWelcomeDescriptor.isValid(messages.segment(), at, completion.byteLength())) {
            throw new StoreException("this is no server of HERD: its welcome has other bytes");
        }
        HerdWelcome told = HerdWelcomeDescriptor.get(messages.segment(), at);
        postReceive(receive);
        return told;
    }

    /** Where what a RECV takes begins. */
    protected final long messageAt(int receive) {
        return (long) receive * messageLength;
    }

    /** Posts a RECV, if the channel is open. */
    protected final void postReceive(int receive) {
        if (closed) {
            return;
        }
        PostStatus status =
                queuePair.postReceive(RECEIVE | receive, messages.region(), messageAt(receive), messageLength);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for every RECV");
        }
    }

    @Override
    public final HerdWelcome welcome() {
        return welcome;
    }

    @Override
    public final MemorySegment slots() {
        return slots.segment();
    }

    @Override
    public final ByteBuffer view() {
        return slots.view();
    }

    @Override
    public final boolean isFree(int slot) {
        return writes.isFree(slot);
    }

    @Override
    public final boolean hasRoom() {
        return !sends.isFull();
    }

    @Override
    public void write(int slot, int length) {
        writes.write(slot, length);
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
            } else if (!received((int) completion.wrId(), completion.byteLength(), handler)) {
                return false;
            }
        }
        return true;
    }

    /**
     * A RECV has taken a message.
     *
     * @param receive which
     * @param length bytes of the message
     * @return false if the server must not send it
     */
    protected abstract boolean received(int receive, long length, HerdReplyHandler handler);

    protected final boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            CloseHelper.closeAll(queuePair, completions, slots, messages); // no buffer is touched without a queue pair
        }
    }
}
