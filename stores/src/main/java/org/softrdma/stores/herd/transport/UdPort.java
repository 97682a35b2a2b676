package org.softrdma.stores.herd.transport;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.OpenParts;
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
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.DatagramListener;
import org.softrdma.verbs.cm.DatagramService;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * HERD's transport as it was published: requests are WRITEs over an unreliable connection of each client, answers are datagrams,
 * of one queue pair of each worker for all clients. A client says hello by a datagram as well, until it is answered. Where
 * hellos go, the connection manager tells: it is a service of datagrams.
 */
public final class UdPort implements HerdPort {
    private static final long LOOK_NS = UdPeer.LEASE_NS / 16;
    private static final int ANSWERS = 256;
    private static final int WELCOMES = 64;
    private static final int HELLOS = 64;
    private static final int HELLO_ROOM = 256;
    private static final long HELLO = 1L << Integer.SIZE;
    private static final byte[] NO_DATA = {};

    private final StoreServerContext context;
    private final NanoClock clock;
    private final ProtectionDomain domain;
    private final boolean threads;
    private final CompletionQueue nothing;
    private final RegisteredMemory hellos;
    private final UdAnswers welcomes;
    private final List<UdAnswers> workers = new ArrayList<>();
    private final UdPeer.Common common;
    private final DatagramListener listener;
    private final Long2ObjectHashMap<UdPeer> peers = new Long2ObjectHashMap<>();
    private final List<UdPeer> over = new ArrayList<>();
    private final List<UdPeer> ended = new ArrayList<>();
    private final FormerWays formerWays;
    private final Consumer<WorkCompletion> takingHellos = this::take;
    private @Nullable HerdHost told;
    private long nowNs;
    private long lookNs;
    private boolean closed;

    /**
     * Listens.
     *
     * @param device with unreliable connections and datagrams
     * @param context concluded
     * @param shape of a client's slots
     * @param polled true for slots in memory that the device writes in order for who polls it
     * @param counters of each worker, and behind them the port's own
     * @throws VerbsException if it cannot
     * @throws StoreException if an answer does not fit into a datagram of the device, or a request as published into a packet
     */
    public UdPort(
            VerbsDevice device,
            StoreServerContext context,
            HerdShape shape,
            boolean polled,
            List<StoreCounters> counters) {
        this.context = context;
        clock = context.nanoClock();
        threads = !device.manualProgress();
        requireFits(device, context.maxValueLength());
        requireOnePacket(device, context, shape);
        requireFewWorkers(device, shape);
        OpenParts opened = new OpenParts();
        try {
            domain = opened.add(device.allocateProtectionDomain());
            nothing = opened.add(device.createCompletionQueue(1));
            hellos = opened.add(new RegisteredMemory(
                    device, domain, HELLOS * HELLO_ROOM, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK)));
            welcomes = opened.add(new UdAnswers(
                    device,
                    domain,
                    WELCOMES,
                    HELLOS,
                    HerdDatagramWelcomeDescriptor.length(shape.workers()),
                    counters.getLast()));
            for (int worker = 0; worker < shape.workers(); worker++) {
                int longest = HerdReplyDescriptor.length(context.maxValueLength());
                workers.add(opened.add(new UdAnswers(device, domain, ANSWERS, 1, longest, counters.get(worker))));
            }
            for (int hello = 0; hello < HELLOS; hello++) {
                expectHello(hello);
            }
            QueuePairAddress at = welcomes.queuePair().address();
            listener = device.listenForDatagrams(
                    context.address(), new DatagramService(at.host(), at.number(), DatagramService.QUEUE_KEY, NO_DATA));
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
        List<UdAnswers> all = new ArrayList<>(workers);
        all.add(welcomes);
        formerWays = new FormerWays(all);
        common = new UdPeer.Common(
                device, domain, nothing, shape, polled, List.copyOf(workers), this::drop, this::release);
        lookNs = clock.nanoTime() + LOOK_NS;
    }

    /** Bytes of the longest value of an answer, which is one datagram; 0 on a device that has none. */
    public static int longestValue(VerbsDevice device) {
        return Math.max(0, device.capabilities().maxTransferUnit() - HerdReplyDescriptor.length(0));
    }

    /**
     * An answer is one datagram, with the value.
     *
     * @throws StoreException if it is too long
     */
    static void requireFits(VerbsDevice device, int maxValueLength) {
        int most = longestValue(device);
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

    /** A client is told in one datagram which queue pair each worker answers by. */
    private static void requireFewWorkers(VerbsDevice device, HerdShape shape) {
        int most = device.capabilities().maxTransferUnit();
        if (HerdDatagramWelcomeDescriptor.length(shape.workers()) > most) {
            throw new StoreException("workers=" + shape.workers() + ": the answer to a hello is one datagram, which on "
                    + device.name() + " has " + most + " bytes at most, 4 for each worker; lower it");
        }
    }

    @Override
    public InetSocketAddress address() {
        return listener.localAddress();
    }

    // ---- what comes

    @Override
    public boolean hasThreads() {
        return threads;
    }

    @Override
    public void turn(int worker, long newNowNs) {
        workers.get(worker).turn(newNowNs);
    }

    @Override
    public int poll(HerdHost host) {
        if (closed) {
            return 0;
        }
        told = host;
        nowNs = clock.nanoTime();
        int count = welcomes.poll(takingHellos);
        welcomes.flush();
        if (nowNs - lookNs >= 0) {
            lookNs = nowNs + LOOK_NS;
            dropWhoIsOver();
            formerWays.closeOld();
        }
        return count;
    }

    private void take(WorkCompletion completion) {
        int hello = (int) completion.wrId();
        long at = (long) hello * HELLO_ROOM + RoutingHeader.LENGTH;
        if (HerdDatagramHelloDescriptor.isValid(hellos.segment(), at, completion.byteLength() - RoutingHeader.LENGTH)) {
            greet(at);
        }
        expectHello(hello);
    }

    private void expectHello(int hello) {
        PostStatus status =
                welcomes.queuePair().postReceive(HELLO | hello, hellos.region(), (long) hello * HELLO_ROOM, HELLO_ROOM);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for every RECV");
        }
    }

    /** Answers a hello: one that comes again as before. Who is not answered asks again. */
    private void greet(long at) {
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
            peer = admit(client, writer.get(), taker.get(), key);
        }
        if (peer != null) {
            welcome(peer);
        }
    }

    private @Nullable UdPeer admit(long client, QueuePairAddress writer, QueuePairAddress taker, int key) {
        HerdHost host = told;
        if (host == null || isFull(client)) {
            return null;
        }
        try {
            UdPeer peer = new UdPeer(common, client, writer, taker, key, nowNs);
            peer.welcomed(host.arrives(peer, client, peer.remoteSlots())); // and who had this name is dropped
            peers.put(client, peer);
            return peer;
        } catch (VerbsException | IllegalArgumentException e) {
            return null; // there is no room for it, or nobody can be there
        }
    }

    private boolean isFull(long client) {
        return (!peers.containsKey(client) && peers.size() >= context.maxConnections())
                || peers.size() + ended.size() >= HerdPeer.mostHeld(context.maxConnections());
    }

    private void welcome(UdPeer peer) {
        HerdWelcome welcome = peer.welcome();
        if (welcome != null && welcomes.hasRoom(1)) {
            HerdDatagramWelcomeDescriptor.put(
                    welcomes.memory(),
                    welcomes.nextAt(),
                    welcome,
                    peer.client(),
                    peer.address(),
                    worker -> workers.get(worker).queuePair().number());
            welcomes.add(peer.way(), peer.number(), peer.key(), HerdDatagramWelcomeDescriptor.length(workers.size()));
        }
    }

    private void dropWhoIsOver() {
        for (UdPeer peer : peers.values()) {
            if (peer.isOver(nowNs)) {
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
        peer.end();
        ended.add(peer);
        HerdHost host = told;
        if (host != null) {
            host.left(peer);
        }
    }

    private void release(UdPeer peer) {
        ended.remove(peer);
        peer.close();
        formerWays.add(peer.way());
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            listener.close();
            for (UdPeer peer : List.copyOf(peers.values())) {
                drop(peer);
            }
            for (UdPeer peer : List.copyOf(ended)) {
                release(peer);
            }
            CloseHelper.closeAll(workers); // no answer names a client from now on
            CloseHelper.closeAll(welcomes, formerWays, nothing, hellos, domain);
        }
    }
}
