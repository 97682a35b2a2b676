package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
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
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.DatagramService;
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

    private static final long FIRST_QUESTION_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long MOST_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    private static final int ANSWERS_PER_SLOT = 2;
    private static final int HELLOS = 2;
    private static final byte[] NO_DATA = {};

    private final StoreCounters counters;
    private final NanoClock clock;
    private final ClientQueues queues;
    private final DatagramService server;
    private final AddressHandle way;
    private final UnconnectedQueuePair taker;
    private final UnconnectedQueuePair writer;
    private final HerdWelcome welcome;
    private final int[] workers = new int[HerdShape.MOST_WORKERS];
    private final RegisteredMemory slots;
    private final RequestWrites writes;
    private HerdReplyHandler polling = (memory, at, length) -> {};
    private final ClientQueues.Taker answers = this::received;
    private long heardNs;
    private long askedNs;
    private boolean waiting;

    /**
     * Says hello, and waits for the welcome.
     *
     * @param device of the client
     * @param domain of its memory
     * @param context concluded
     * @param counters counts WRITEs
     * @param client its name
     * @param address where the server's service of datagrams is
     * @throws org.softrdma.verbs.VerbsException if nobody offers that service, or nobody answers in time
     * @throws StoreException if the server does not welcome the client in time, or an answer does not fit into a datagram
     */
    UcChannel(
            VerbsDevice device,
            ProtectionDomain domain,
            StoreClientContext context,
            StoreCounters counters,
            long client,
            InetSocketAddress address) {
        this.counters = counters;
        clock = context.nanoClock();
        UdPort.requireFits(device, context.maxValueLength());
        int key = context.random().nextInt() & Integer.MAX_VALUE;
        int receives = ANSWERS_PER_SLOT * context.window() + 1; // one is in its handler
        int longest = Math.max(
                HerdReplyDescriptor.length(context.maxValueLength()),
                HerdDatagramWelcomeDescriptor.length(HerdShape.MOST_WORKERS));
        server = found(device, address, context.connectTimeoutNs());
        ClientQueues made = null;
        UnconnectedQueuePair answered = null;
        UnconnectedQueuePair asking = null;
        AddressHandle found = null;
        RegisteredMemory requests = null;
        try {
            made = new ClientQueues(device, domain, context.window(), receives, RoutingHeader.LENGTH + longest);
            queues = made;
            answered = domain.createQueuePair(
                    QueuePairAttributes.of(made.completions(), new QueuePairLimits(HELLOS, receives, 1, 1, 0))
                            .withDatagrams(key));
            taker = answered;
            asking = domain.createQueuePair(QueuePairAttributes.of(
                            made.completions(), new QueuePairLimits(made.capacity(), 1, 1, 1, made.inline()))
                    .withType(QueuePairType.UNRELIABLE_CONNECTION));
            writer = asking;
            found = domain.createAddressHandle(server.host());
            way = found;
            made.receiveBy(answered);
            HerdDatagramHelloDescriptor.put(
                    made.memory(), made.ownAt(), client, asking.address(), answered.address(), key);
            welcome = awaitWelcome(context, client, clock.nanoTime() + context.connectTimeoutNs());
            requests = new RegisteredMemory(device, domain, welcome.shape().length(), Set.of(AccessFlag.LOCAL_WRITE));
            slots = requests;
            writes = new RequestWrites(asking, made.sends(), requests, welcome, counters);
            heardNs = clock.nanoTime();
        } catch (RuntimeException e) {
            CloseHelper.closeAll(asking, answered, found, made, requests);
            throw e;
        }
    }

    // ---- the first messages

    /** Asks where hellos go, and soon asks again: the device repeats a question after seconds only. */
    private DatagramService found(VerbsDevice device, InetSocketAddress address, long timeoutNs) {
        long deadlineNs = clock.nanoTime() + timeoutNs;
        long pauseNs = FIRST_QUESTION_NS;
        while (true) {
            long leftNs = deadlineNs - clock.nanoTime();
            try {
                return device.resolveDatagrams(address, NO_DATA, Math.min(pauseNs, Math.max(leftNs, 1)));
            } catch (VerbsException e) {
                if (e.code() != VerbsErrorCode.TIMED_OUT || leftNs <= pauseNs) {
                    throw e;
                }
                pauseNs *= 2;
            }
        }
    }

    private HerdWelcome awaitWelcome(StoreClientContext context, long client, long deadlineNs) {
        HerdWelcome[] told = new HerdWelcome[1];
        ClientQueues.Taker hearing = (receive, completion) -> {
            if (told[0] == null && isWelcome(receive, completion, client)) {
                told[0] = welcome(receive);
            }
            return true; // what is no welcome is of somebody else
        };
        long pauseNs = FIRST_PAUSE_NS;
        long againNs = clock.nanoTime();
        long said = 0;
        while (told[0] == null) {
            long nowNs = clock.nanoTime();
            if (nowNs - deadlineNs > 0) {
                throw new StoreException("the server does not welcome the client within its time limit");
            }
            if (said == queues.others() && nowNs - againNs >= 0) {
                sayHello();
                said++;
                againNs = nowNs + pauseNs;
                pauseNs = Math.min(2 * pauseNs, MOST_PAUSE_NS);
            }
            if (!queues.poll(hearing)) {
                throw new StoreException("the client's queue pair has failed before the welcome: " + queues.failure());
            }
            context.idleStrategy().idle();
        }
        return told[0];
    }

    private void sayHello() {
        PostStatus status = taker.postSendTo(
                ClientQueues.OTHER,
                queues.messages().region(),
                queues.ownAt(),
                HerdDatagramHelloDescriptor.LENGTH,
                way,
                server.number(),
                server.queueKey(),
                SendFlags.SIGNALLED);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for a hello");
        }
        counters.increment(StoreCounter.SENDS);
    }

    private long datagramAt(int receive) {
        return queues.messageAt(receive) + RoutingHeader.LENGTH;
    }

    private boolean isWelcome(int receive, WorkCompletion completion, long client) {
        return completion.sourceNumber() == server.number()
                && HerdDatagramWelcomeDescriptor.isValid(
                        queues.memory(), datagramAt(receive), completion.byteLength() - RoutingHeader.LENGTH, client);
    }

    /** Reads the welcome, and connects the queue pair of requests. */
    private HerdWelcome welcome(int receive) {
        long at = datagramAt(receive);
        QueuePairAddress requests = HerdAddressDescriptor.get(
                        queues.memory(), at + HerdDatagramWelcomeDescriptor.TAKER_OFFSET)
                .orElseThrow(() -> new StoreException("this is no server of HERD: no queue pair is where it says"));
        writer.connect(requests, 0, 0);
        HerdWelcome told = HerdWelcomeDescriptor.get(queues.memory(), at);
        for (int worker = 0; worker < told.shape().workers(); worker++) {
            workers[worker] = HerdDatagramWelcomeDescriptor.worker(queues.memory(), at, worker);
        }
        return told;
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
        return !queues.sends().isFull();
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
        polling = handler;
        return queues.poll(answers) && !isLost(clock.nanoTime());
    }

    private boolean received(int receive, WorkCompletion completion) {
        long at = datagramAt(receive);
        long length = completion.byteLength() - RoutingHeader.LENGTH;
        HerdShape shape = welcome.shape();
        if (HerdReplyDescriptor.isValid(queues.memory(), at, length, shape.slots())
                && completion.sourceNumber()
                        == workers[shape.workerOf(HerdReplyDescriptor.slot(queues.memory(), at))]) {
            waiting = false;
            heardNs = clock.nanoTime();
            polling.onMessage(queues.memory(), at, length);
        }
        return true;
    }

    private boolean isLost(long nowNs) {
        return nowNs - heardNs > UdPeer.LEASE_NS / 2 || (waiting && nowNs - askedNs > SILENCE_NS);
    }

    @Override
    public void close() {
        if (!queues.isClosed()) {
            CloseHelper.closeAll(writer, taker, way, queues, slots); // queue pairs first
        }
    }
}
