package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import org.agrona.CloseHelper;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdAddressDescriptor;
import org.softrdma.stores.herd.wire.HerdDatagramHelloDescriptor;
import org.softrdma.stores.herd.wire.HerdDatagramWelcomeDescriptor;
import org.softrdma.stores.herd.wire.HerdHelloDescriptor;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * HERD's transport as it was published: requests are WRITEs over an unreliable connection of each client, answers are datagrams
 * of one queue pair for all. A client says hello by a datagram as well, until it is answered.
 *
 * <p>Where that queue pair is, the connection manager tells, over a connection that is closed at once.
 */
public final class UdPort implements HerdPort {
    private static final long LOOK_NS = UdPeer.LEASE_NS / 16;
    private static final int BATCH = 64;
    private static final int BACKLOG = 64;
    private static final int HELLOS = 64;
    private static final int HELLO_ROOM = 256;

    private static final int MOST_SEEKERS = 64;
    private static final long HELLO = 1L << Integer.SIZE;
    private static final QueuePairLimits NOTHING_POSTED = new QueuePairLimits(1, 1, 1, 1, 0);

    private final StoreServerContext context;
    private final NanoClock clock;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final RegisteredMemory hellos;
    private final UnconnectedQueuePair queuePair;
    private final UdAnswers answers;
    private final UdPeer.Common common;
    private final byte[] where;
    private final Listener listener;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final Long2ObjectHashMap<UdPeer> peers = new Long2ObjectHashMap<>();
    private final List<UdPeer> over = new ArrayList<>();
    private final Queue<QueuePair> seekers = new ArrayDeque<>();
    private @Nullable HerdHost told;
    private long lookNs;
    private boolean closed;

    /**
     * Listens.
     *
     * @param device with unreliable connections and datagrams
     * @param context concluded
     * @param shape of a client's slots
     * @param polled true for slots in memory that the device writes in order for who polls it
     * @param counters counts SENDs
     * @throws VerbsException if it cannot
     * @throws StoreException if an answer does not fit into a datagram of the device, or a request as published into a packet
     */
    public UdPort(
            VerbsDevice device, StoreServerContext context, HerdShape shape, boolean polled, StoreCounters counters) {
        this.context = context;
        clock = context.nanoClock();
        requireFits(device, context.maxValueLength());
        requireOnePacket(device, context, shape);
        int inline = Math.min(HerdSends.MOST_INLINE, device.capabilities().maxInline());
        int key = context.random().nextInt() & Integer.MAX_VALUE;
        int longest =
                Math.max(HerdReplyDescriptor.length(context.maxValueLength()), HerdDatagramWelcomeDescriptor.LENGTH);
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            domain = device.allocateProtectionDomain();
            opened.addFirst(domain);
            hellos = new RegisteredMemory(
                    device, domain, HELLOS * HELLO_ROOM, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
            opened.addFirst(hellos);
            completions = device.createCompletionQueue(HerdSends.completions(UdAnswers.CAPACITY) + HELLOS);
            opened.addFirst(completions);
            queuePair = domain.createQueuePair(
                    QueuePairAttributes.of(completions, new QueuePairLimits(UdAnswers.CAPACITY, HELLOS, 1, 1, inline))
                            .withDatagrams(key));
            opened.addFirst(queuePair);
            answers = new UdAnswers(device, domain, queuePair, longest, inline, counters);
            opened.addFirst(answers);
            for (int hello = 0; hello < HELLOS; hello++) {
                expectHello(hello);
            }
            listener = device.listen(context.address(), BACKLOG);
        } catch (RuntimeException e) {
            CloseHelper.closeAll(opened);
            throw e;
        }
        common = new UdPeer.Common(device, domain, completions, shape, polled, answers, this::drop);
        where = new byte[HerdAddressDescriptor.LENGTH];
        HerdAddressDescriptor.put(MemorySegment.ofArray(where), 0, queuePair.address(), key);
        lookNs = clock.nanoTime() + LOOK_NS;
    }

    /**
     * An answer is one datagram, with the value.
     *
     * @throws StoreException if it is too long
     */
    static void requireFits(VerbsDevice device, int maxValueLength) {
        int most = device.capabilities().maxTransferUnit() - HerdReplyDescriptor.length(0);
        if (maxValueLength > most) {
            throw new StoreException("maxValueLength=" + maxValueLength + ": an answer is one datagram, which on "
                    + device.name() + " carries a value of " + most + " bytes at most; lower it, or use herd-rc");
        }
    }

    /** Only within a packet do bytes land in order, whose last word tells that the request is there. */
    private static void requireOnePacket(VerbsDevice device, StoreServerContext context, HerdShape shape) {
        int most = device.capabilities().maxTransferUnit();
        if (context.protocol() == Protocol.PAPER && shape.slotLength() > most) {
            throw new StoreException("requests of up to " + shape.slotLength()
                    + " bytes: as published they are one packet, of at most " + most + " bytes on " + device.name()
                    + "; lower maxValueLength, or use protocol SAFE");
        }
    }

    @Override
    public InetSocketAddress address() {
        return listener.localAddress();
    }

    // ---- what comes

    @Override
    public int poll(HerdHost host) {
        if (closed) {
            return 0;
        }
        told = host;
        long nowNs = clock.nanoTime();
        answers.begin(nowNs);
        int work = answerSeeker();
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            take(batch[i], host);
        }
        if (nowNs - lookNs >= 0) {
            lookNs = nowNs + LOOK_NS;
            dropWhoIsOver();
            answers.closeFormerWays();
        }
        return work + count;
    }

    /** Tells a client where the queue pair of datagrams is. */
    private int answerSeeker() {
        Optional<ConnectionRequest> asked = listener.next(0);
        if (asked.isEmpty()) {
            return 0;
        }
        try (ConnectionRequest request = asked.get()) {
            forgetSeekers();
            QueuePair pair = request.createQueuePair(domain, QueuePairAttributes.of(completions, NOTHING_POSTED));
            seekers.add(pair);
            request.accept(new ConnectionParameters(0, 0, where));
        } catch (VerbsException e) {
            // It is gone, or there is no memory for it: it learns either from its connection.
        }
        return 1;
    }

    /** Closes connections that clients have closed, and the oldest of too many. */
    private void forgetSeekers() {
        for (int left = seekers.size(); left > 0; left--) {
            QueuePair oldest = seekers.remove();
            if (oldest.state() == QueuePairState.ERROR || left >= MOST_SEEKERS) {
                oldest.close();
            } else {
                seekers.add(oldest);
            }
        }
    }

    private void take(WorkCompletion completion, HerdHost host) {
        if (!completion.isSuccess()) {
            throw new StoreException("the queue pair of the server's datagrams has failed: " + completion.status());
        }
        if ((completion.wrId() & HELLO) == 0) {
            answers.completed(completion.wrId());
            return;
        }
        int hello = (int) completion.wrId();
        long at = (long) hello * HELLO_ROOM + RoutingHeader.LENGTH;
        if (HerdDatagramHelloDescriptor.isValid(hellos.segment(), at, completion.byteLength() - RoutingHeader.LENGTH)) {
            greet(at, host);
        }
        expectHello(hello);
    }

    private void expectHello(int hello) {
        PostStatus status =
                queuePair.postReceive(HELLO | hello, hellos.region(), (long) hello * HELLO_ROOM, HELLO_ROOM);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for every RECV");
        }
    }

    /** Answers a hello: one that comes again as before. Who is not answered asks again. */
    private void greet(long at, HerdHost host) {
        long client = HerdHelloDescriptor.client(hellos.segment(), at);
        Optional<QueuePairAddress> writer =
                HerdAddressDescriptor.get(hellos.segment(), at + HerdDatagramHelloDescriptor.WRITER_OFFSET);
        Optional<QueuePairAddress> taker =
                HerdAddressDescriptor.get(hellos.segment(), at + HerdDatagramHelloDescriptor.TAKER_OFFSET);
        if (writer.isEmpty() || taker.isEmpty()) {
            return;
        }
        UdPeer peer = peers.get(client);
        if (peer == null || !peer.isFrom(writer.get())) {
            int key = HerdAddressDescriptor.key(hellos.segment(), at + HerdDatagramHelloDescriptor.TAKER_OFFSET);
            peer = admit(client, writer.get(), taker.get(), key, host);
        }
        if (peer != null) {
            welcome(peer);
        }
    }

    private @Nullable UdPeer admit(
            long client, QueuePairAddress writer, QueuePairAddress taker, int key, HerdHost host) {
        if (!peers.containsKey(client) && peers.size() >= context.maxConnections()) {
            return null;
        }
        try {
            UdPeer peer = new UdPeer(common, client, writer, taker, key);
            peer.welcomed(host.arrives(peer, client, peer.remoteSlots())); // and who had this name is dropped
            peers.put(client, peer);
            return peer;
        } catch (VerbsException | IllegalArgumentException e) {
            return null; // there is no room for it, or nobody can be there
        }
    }

    private void welcome(UdPeer peer) {
        HerdWelcome welcome = peer.welcome();
        if (welcome != null && peer.hasRoom()) {
            HerdDatagramWelcomeDescriptor.put(peer.replies(), peer.nextReply(), welcome, peer.client(), peer.address());
            peer.send(HerdDatagramWelcomeDescriptor.LENGTH);
        }
    }

    private void dropWhoIsOver() {
        for (UdPeer peer : peers.values()) {
            if (peer.isOver()) {
                over.add(peer);
            }
        }
        over.forEach(this::drop);
        over.clear();
    }

    // ---- who goes

    private void drop(UdPeer peer) {
        if (!peer.isOpen()) {
            return;
        }
        peers.remove(peer.client());
        peer.close();
        answers.leave(peer.way());
        HerdHost host = told;
        if (host != null) {
            host.left(peer);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            listener.close();
            CloseHelper.closeAll(queuePair); // no answer names a client from now on
            CloseHelper.closeAll(seekers);
            for (UdPeer peer : List.copyOf(peers.values())) {
                drop(peer);
            }
            CloseHelper.closeAll(answers, completions, hellos, domain);
        }
    }
}
