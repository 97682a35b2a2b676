package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdAddressDescriptor;
import org.softrdma.stores.herd.wire.HerdDatagramHelloDescriptor;
import org.softrdma.stores.herd.wire.HerdDatagramWelcomeDescriptor;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.stores.herd.wire.HerdWelcomeDescriptor;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client's end of HERD's transport as it was published: WRITEs over an unreliable connection, answers by datagrams. Either
 * may be lost, and answers may come twice or late; those of others are dropped.
 *
 * <p>Nothing tells that the server has gone, or that it has given the slots to others: the channel counts as lost if nothing
 * is answered for {@link #SILENCE_NS}, or if nothing was asked for so long that the slots may be lost ({@link
 * UdPeer#LEASE_NS}).
 */
final class UcChannel implements HerdChannel {
    /** Without an answer to anything for so long, the server has gone or knows this client no more. */
    static final long SILENCE_NS = TimeUnit.SECONDS.toNanos(1);

    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long MOST_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    /** WRITEs of each slot in use that may be in the send queue. */
    private static final int WRITES_PER_SLOT = 2;

    private static final int OTHER_SENDS = 2;
    private static final int ANSWERS_PER_SLOT = 2;
    private static final int BATCH = 32;
    private static final QueuePairLimits NOTHING_POSTED = new QueuePairLimits(1, 1, 1, 1, 0);

    /** Top bits of a wrId: what a completion is of. */
    private static final int KIND_SHIFT = 56;

    private static final long WRITE = 1L << KIND_SHIFT;
    private static final long RECEIVE = 2L << KIND_SHIFT;
    private static final long HELLO = 3L << KIND_SHIFT;

    private final StoreCounters counters;
    private final NanoClock clock;
    private final CompletionQueue completions;
    private final RegisteredMemory messages;
    private final int messageLength;
    private final int receives;
    private final int serverNumber;
    private final AddressHandle way;
    private final UnconnectedQueuePair taker;
    private final UnconnectedQueuePair writer;
    private final HerdSends sends;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final HerdWelcome welcome;
    private final RegisteredMemory slots;
    private final RequestWrites writes;
    private long heardNs;
    private long askedNs;
    private boolean waiting;
    private boolean closed;

    /**
     * Says hello, and waits for the welcome.
     *
     * @param device of the client
     * @param domain of its memory
     * @param context concluded
     * @param counters counts WRITEs
     * @param client its name
     * @param server where it is
     * @throws org.softrdma.verbs.VerbsException if there is no way to it, or nobody tells in time where it takes hellos
     * @throws StoreException if the server does not welcome the client in time, or an answer does not fit into a datagram
     */
    UcChannel(
            VerbsDevice device,
            ProtectionDomain domain,
            StoreClientContext context,
            StoreCounters counters,
            long client,
            InetSocketAddress server) {
        this.counters = counters;
        clock = context.nanoClock();
        UdPort.requireFits(device, context.maxValueLength());
        int capacity = WRITES_PER_SLOT * context.window() + OTHER_SENDS;
        int inline = Math.min(HerdSends.MOST_INLINE, device.capabilities().maxInline());
        int key = context.random().nextInt() & Integer.MAX_VALUE;
        receives = ANSWERS_PER_SLOT * context.window() + 1; // one is in its handler
        messageLength = HerdShape.slotLength(RoutingHeader.LENGTH
                + Math.max(HerdReplyDescriptor.length(context.maxValueLength()), HerdDatagramWelcomeDescriptor.LENGTH));
        sends = new HerdSends(capacity, inline);
        completions = device.createCompletionQueue(HerdSends.completions(capacity) + receives + OTHER_SENDS);
        RegisteredMemory received = null;
        UnconnectedQueuePair answered = null;
        UnconnectedQueuePair asking = null;
        AddressHandle found = null;
        RegisteredMemory requests = null;
        try {
            MemorySegment hellos = seek(device, domain, context, server);
            QueuePairAddress greeter = address(hellos, 0);
            serverNumber = greeter.number();
            received = new RegisteredMemory(
                    device,
                    domain,
                    RcChannel.memoryLength(receives + 1, messageLength),
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
            messages = received;
            answered = domain.createQueuePair(
                    QueuePairAttributes.of(completions, new QueuePairLimits(OTHER_SENDS, receives, 1, 1, 0))
                            .withDatagrams(key));
            taker = answered;
            asking = domain.createQueuePair(
                    QueuePairAttributes.of(completions, new QueuePairLimits(capacity, 1, 1, 1, inline))
                            .withType(QueuePairType.UNRELIABLE_CONNECTION));
            writer = asking;
            found = domain.createAddressHandle(greeter.host());
            way = found;
            for (int receive = 0; receive < receives; receive++) {
                postReceive(receive);
            }
            HerdDatagramHelloDescriptor.put(
                    messages.segment(), helloAt(), client, asking.address(), answered.address(), key);
            welcome = awaitWelcome(
                    context,
                    client,
                    HerdAddressDescriptor.key(hellos, 0),
                    clock.nanoTime() + context.connectTimeoutNs());
            requests = new RegisteredMemory(device, domain, welcome.shape().length(), Set.of(AccessFlag.LOCAL_WRITE));
            slots = requests;
            writes = new RequestWrites(writer, sends, slots, welcome, counters, WRITE);
            heardNs = clock.nanoTime();
        } catch (RuntimeException e) {
            CloseHelper.closeAll(asking, answered, found, completions, received, requests);
            throw e;
        }
    }

    // ---- the first messages

    /** Asks the connection manager at the server where hellos go. */
    private MemorySegment seek(
            VerbsDevice device, ProtectionDomain domain, StoreClientContext context, InetSocketAddress server) {
        try (Connector connector = device.resolve(server, context.connectTimeoutNs());
                QueuePair _ = connector.createQueuePair(domain, QueuePairAttributes.of(completions, NOTHING_POSTED))) {
            byte[] told = connector.connect(new ConnectionParameters(0, 0, new byte[0]), context.connectTimeoutNs());
            if (told.length < HerdAddressDescriptor.LENGTH) {
                throw new StoreException("this is no server of HERD with datagrams: it tells " + told.length
                        + " bytes of where it takes them, expected " + HerdAddressDescriptor.LENGTH);
            }
            return MemorySegment.ofArray(told);
        }
    }

    private static QueuePairAddress address(MemorySegment memory, long at) {
        return HerdAddressDescriptor.get(memory, at)
                .orElseThrow(() -> new StoreException("this is no server of HERD: no queue pair is where it says"));
    }

    private long helloAt() {
        return messageAt(receives); // behind the buffers of RECVs
    }

    /** Where what a RECV takes begins. */
    private long messageAt(int receive) {
        return (long) receive * messageLength;
    }

    private HerdWelcome awaitWelcome(StoreClientContext context, long client, int key, long deadlineNs) {
        long pauseNs = FIRST_PAUSE_NS;
        long againNs = clock.nanoTime();
        boolean saying = false;
        while (true) {
            long nowNs = clock.nanoTime();
            if (nowNs - deadlineNs > 0) {
                throw new StoreException("the server does not welcome the client within its time limit");
            }
            if (!saying && nowNs - againNs >= 0) {
                sayHello(key);
                saying = true;
                againNs = nowNs + pauseNs;
                pauseNs = Math.min(2 * pauseNs, MOST_PAUSE_NS);
            }
            int count = completions.poll(batch, 1);
            if (count == 0) {
                context.idleStrategy().idle();
            } else if (!batch[0].isSuccess()) {
                throw new StoreException("the client's queue pair has failed before the welcome: " + batch[0].status());
            } else if (batch[0].wrId() == HELLO) {
                saying = false;
            } else {
                Optional<HerdWelcome> told = welcome(batch[0], client);
                if (told.isPresent()) {
                    return told.get();
                }
            }
        }
    }

    private void sayHello(int key) {
        PostStatus status = taker.postSendTo(
                HELLO,
                messages.region(),
                helloAt(),
                HerdDatagramHelloDescriptor.LENGTH,
                way,
                serverNumber,
                key,
                SendFlags.SIGNALLED);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for a hello");
        }
        counters.increment(StoreCounter.SENDS);
    }

    /** The welcome, if it is one; then the queue pair of requests is connected. */
    private Optional<HerdWelcome> welcome(WorkCompletion completion, long client) {
        int receive = (int) completion.wrId();
        long at = messageAt(receive) + RoutingHeader.LENGTH;
        boolean valid = completion.sourceNumber() == serverNumber
                && HerdDatagramWelcomeDescriptor.isValid(
                        messages.segment(), at, completion.byteLength() - RoutingHeader.LENGTH, client);
        if (valid) {
            writer.connect(address(messages.segment(), at + HerdDatagramWelcomeDescriptor.TAKER_OFFSET), 0, 0);
        }
        Optional<HerdWelcome> told =
                valid ? Optional.of(HerdWelcomeDescriptor.get(messages.segment(), at)) : Optional.empty();
        postReceive(receive);
        return told;
    }

    private void postReceive(int receive) {
        if (closed) {
            return;
        }
        PostStatus status = taker.postReceive(RECEIVE | receive, messages.region(), messageAt(receive), messageLength);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for every RECV");
        }
    }

    // ---- requests and answers

    @Override
    public HerdWelcome welcome() {
        return welcome;
    }

    @Override
    public boolean isReliable() {
        return false;
    }

    @Override
    public boolean mayWriteAgain(int unanswered) {
        return true;
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
        return writes.isFree(slot);
    }

    @Override
    public boolean hasRoom() {
        return !sends.isFull();
    }

    @Override
    public void write(int slot, int length) {
        writes.write(slot, length);
        if (!waiting) {
            waiting = true;
            askedNs = clock.nanoTime();
        }
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
            } else if (completion.wrId() != HELLO) {
                received(completion, handler);
            }
        }
        return !isLost(clock.nanoTime());
    }

    private void received(WorkCompletion completion, HerdReplyHandler handler) {
        int receive = (int) completion.wrId();
        long at = messageAt(receive) + RoutingHeader.LENGTH;
        long length = completion.byteLength() - RoutingHeader.LENGTH;
        if (completion.sourceNumber() == serverNumber
                && HerdReplyDescriptor.isValid(
                        messages.segment(), at, length, welcome.shape().slots())) {
            waiting = false;
            heardNs = clock.nanoTime();
            handler.onMessage(messages.segment(), at, length);
        }
        postReceive(receive);
    }

    private boolean isLost(long nowNs) {
        return nowNs - heardNs > UdPeer.LEASE_NS / 2 || (waiting && nowNs - askedNs > SILENCE_NS);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            CloseHelper.closeAll(writer, taker, way, completions, slots, messages); // queue pairs first
        }
    }
}
