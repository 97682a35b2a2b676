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
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.stores.herd.wire.HerdWelcomeDescriptor;
import org.softrdma.verbs.AccessFlag;
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
    /** Bytes of the buffer of each message of the client. */
    private static final int MESSAGE_ROOM = 32;

    private final StoreCounters counters;
    private final QueuePair queuePair;
    private final ClientQueues queues;
    private final HerdWelcome welcome;
    private final RegisteredMemory slots;
    private final RequestWrites writes;
    private HerdReplyHandler polling = (memory, at, length) -> {};
    private final ClientQueues.Taker taker =
            (receive, completion) -> received(receive, completion.byteLength(), polling);

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
        long deadlineNs = context.nanoClock().nanoTime() + context.connectTimeoutNs();
        ClientQueues made = null;
        QueuePair pair = null;
        RegisteredMemory requests = null;
        try (Connector connector = device.resolve(by.server(), context.connectTimeoutNs())) {
            made = new ClientQueues(
                    device, domain, context.window(), receives, Math.max(longest, HerdWelcomeDescriptor.LENGTH));
            queues = made;
            pair = connector.createQueuePair(
                    domain,
                    QueuePairAttributes.of(
                            made.completions(), new QueuePairLimits(made.capacity(), receives, 1, 1, made.inline())));
            queuePair = pair;
            made.receiveBy(pair);
            byte[] ignored = connector.connect(new ConnectionParameters(0, 0, new byte[0]), context.connectTimeoutNs());
            sayHello(by.client());
            welcome = awaitWelcome(context, deadlineNs);
            requests = new RegisteredMemory(device, domain, welcome.shape().length(), Set.of(AccessFlag.LOCAL_WRITE));
            slots = requests;
            writes = new RequestWrites(pair, made.sends(), requests, welcome, counters);
        } catch (RuntimeException e) {
            CloseHelper.closeAll(pair, made, requests);
            throw e;
        }
    }

    private void sayHello(long client) {
        HerdHelloDescriptor.put(messages(), queues.ownAt(), client);
        say(queues.ownAt(), HerdHelloDescriptor.LENGTH);
    }

    /** Where a second message of the client is laid out: behind the first one, which may be on its way still. */
    protected final long secondAt() {
        return queues.ownAt() + MESSAGE_ROOM;
    }

    /** The memory of messages. */
    protected final MemorySegment messages() {
        return queues.memory();
    }

    /** SENDs a message, before the first WRITE. */
    protected final void say(long at, int length) {
        HerdSends sends = queues.sends();
        int flags = sends.flags(length, true);
        PostStatus status = queuePair.postSend(
                ClientQueues.SEND | sends.nextSequence(), queues.messages().region(), at, length, flags);
        long ignored = sends.posted(status, flags);
        counters.increment(StoreCounter.SENDS);
    }

    private HerdWelcome awaitWelcome(StoreClientContext context, long deadlineNs) {
        HerdWelcome[] told = new HerdWelcome[1];
        while (told[0] == null) {
            if (!queues.poll((receive, completion) -> (told[0] = welcome(receive, completion)) != null)) {
                throw new StoreException("the connection has ended before the server's welcome: " + queues.failure());
            }
            if (context.nanoClock().nanoTime() - deadlineNs > 0) {
                throw new StoreException("the server does not welcome the client within its time limit");
            }
            context.idleStrategy().idle();
        }
        return told[0];
    }

    private HerdWelcome welcome(int receive, WorkCompletion completion) {
        long at = queues.messageAt(receive);
        if (!HerdWelcomeDescriptor.isValid(messages(), at, completion.byteLength())) {
            throw new StoreException("this is no server of HERD: its welcome has other bytes");
        }
        return HerdWelcomeDescriptor.get(messages(), at);
    }

    /** Where what a RECV takes begins. */
    protected final long messageAt(int receive) {
        return queues.messageAt(receive);
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
        return !queues.sends().isFull();
    }

    @Override
    public void write(int slot, int length) {
        writes.write(slot, length);
    }

    @Override
    public boolean poll(HerdReplyHandler handler) {
        polling = handler;
        return queues.poll(taker);
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
        return queues.isClosed();
    }

    @Override
    public void close() {
        if (!isClosed()) {
            CloseHelper.closeAll(queuePair, queues, slots); // no buffer is touched without a queue pair
        }
    }
}
