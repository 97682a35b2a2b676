package org.softrdma.farm.node;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.FarmMembership;
import org.softrdma.farm.membership.Member;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.ring.RingBox;
import org.softrdma.farm.ring.RingEnd;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The other members: one connection to each, which the machine with the higher number makes, and requests under way. A
 * request that has no answer when a connection ends is sent again on the next one, in order. When this machine learns an
 * epoch it forgets all requests, and closes the connections to those that were removed. The node's thread.
 */
final class Peers implements AutoCloseable {
    private static final int BACKLOG = 64;
    private static final int LANES = 3;
    /** Turns that find something to do look for requests of connections so seldom: each look drives a device. */
    private static final int TURNS_BETWEEN_LOOKS = 64;

    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final VerbsDevice device;
    private final FarmMembership membership;
    private final Member member;
    private final FarmNodeContext context;
    private final PeerLink.Environment environment;
    private final Listener listener;
    private final List<Peer> peers = new ArrayList<>();
    private final LongSupplier truncated;
    private long nextNumber = 1;
    private int turns;
    private FarmConfiguration connectsFor = FarmConfiguration.NONE;
    /** Members that this machine connects to. */
    private int[] lower = {};

    /** Answers requests of other machines, and of this one. */
    interface RequestHandler {
        /**
         * A request.
         *
         * @param machine which sends it
         * @param request it
         * @param reply takes the answer, at once or later
         */
        void onRequest(int machine, ByteBuffer request, AnswerHandler reply);
    }

    /** Takes an answer. */
    interface AnswerHandler {
        /** Takes it. */
        void onAnswer(ByteBuffer answer);
    }

    private record Request(ByteBuffer message, AnswerHandler handler) {}

    /** Requests to a machine, in order; the first of them are sent, a window of them. */
    private static final class Lane {
        private final Deque<Request> requests = new ArrayDeque<>();
        private int sent;
    }

    /** A request waits only for requests of lanes before its own: so none of those ever waits behind it. */
    private static final class Peer {
        /** What is answered at once. */
        private final Lane direct = new Lane();
        /** Decisions: answered when all members have said what is in doubt. */
        private final Lane decisions = new Lane();
        /** Transactions: answered when their replicas have them, or when they are decided. */
        private final Lane transactions = new Lane();

        private final List<Lane> lanes = List.of(direct, decisions, transactions);
        private final int machine;
        private @Nullable PeerLink link;
        private long connectNs = Long.MIN_VALUE;

        Peer(int machine) {
            this.machine = machine;
        }

        Lane lane(NodeMessageKind kind) {
            return switch (kind) {
                case CAPABILITY,
                        ALLOCATE,
                        PREPARE,
                        VALIDATE,
                        COMMIT_PRIMARY,
                        ABORT,
                        COMMIT_REPLICA,
                        RECORD,
                        IN_DOUBT,
                        RECOVERED,
                        COPY -> direct;
                case DECIDE_REPLICA, DECIDE_PRIMARY -> decisions;
                case SHIP, RUN -> transactions;
            };
        }
    }

    Peers(
            VerbsDevice device,
            ProtectionDomain domain,
            FarmMembership membership,
            Member member,
            NodeReads reads,
            LongSupplier truncated,
            FarmNodeContext context) {
        this.truncated = truncated;
        this.device = device;
        this.membership = membership;
        this.member = member;
        this.context = context;
        int sends = RingEnd.MOST_WRITES + context.reads() + 2;
        // All lanes of requests and of answers; twice that, as the receiver tells its position only after half a ring.
        int ring = RingBox.capacityFor(
                CopiedObjects.longestAnswer(context.shape(), context.longestMessage()),
                2 * 2 * LANES * context.window());
        environment = new PeerLink.Environment(
                device, domain, reads, new StoreCounters(), membership.machine(), context.cluster(), ring, sends);
        listener = device.listen(context.address(), BACKLOG);
        try {
            membership.announce(listener.localAddress(), context.offersMemory());
        } catch (RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    /** The connection to a machine, or null if there is none now. */
    @Nullable
    PeerLink link(int machine) {
        Peer peer = find(machine);
        PeerLink link = peer == null ? null : peer.link;
        return link == null || link.isBroken() ? null : link;
    }

    private @Nullable Peer find(int machine) {
        for (int i = 0; i < peers.size(); i++) {
            if (peers.get(i).machine == machine) {
                return peers.get(i);
            }
        }
        return null;
    }

    private Peer peer(int machine) {
        Peer known = find(machine);
        if (known != null) {
            return known;
        }
        Peer made = new Peer(machine);
        peers.add(made);
        return made;
    }

    /**
     * Sends a request to a member.
     *
     * @param machine another one than this
     * @param message the request; kept until its answer
     * @param handler takes the answer, unless an epoch comes before it
     */
    void request(int machine, ByteBuffer message, AnswerHandler handler) {
        if (message.limit() > context.longestMessage()) {
            throw new FarmException("a message of " + message.limit() + " bytes > longestMessage="
                    + context.longestMessage() + ": write less on one machine in a transaction");
        }
        NodeMessageDescriptor.stamp(message, member.machine(), member.epoch(), nextNumber++, truncated.getAsLong());
        Peer peer = peer(machine);
        peer.lane(NodeMessageDescriptor.kind(message)).requests.add(new Request(message, handler));
        send(peer);
    }

    private void send(Peer peer) {
        PeerLink link = peer.link;
        if (link != null) {
            for (int i = 0; i < peer.lanes.size(); i++) {
                send(peer.lanes.get(i), link);
            }
        }
    }

    private void send(Lane lane, PeerLink link) {
        if (lane.sent == lane.requests.size()) {
            return;
        }
        Iterator<Request> each = lane.requests.iterator();
        for (int i = 0; each.hasNext() && lane.sent < context.window(); i++) {
            Request request = each.next();
            if (i >= lane.sent) {
                link.send(request.message);
                lane.sent++;
            }
        }
    }

    /** A new epoch was learnt: forgets all requests, and closes the connections to those that are no members. */
    void onEpoch() {
        for (Iterator<Peer> each = peers.iterator(); each.hasNext(); ) {
            Peer peer = each.next();
            for (Lane lane : peer.lanes) {
                lane.requests.clear();
                lane.sent = 0;
            }
            if (!member.configuration().members().contains(peer.machine)) {
                drop(peer);
                each.remove();
            }
        }
    }

    private static void drop(Peer peer) {
        PeerLink link = peer.link;
        peer.link = null;
        peer.lanes.forEach(lane -> lane.sent = 0);
        if (link != null) {
            link.close();
        }
    }

    /**
     * Connects, takes messages and completions, and now and then accepts, which drives a device in manual progress.
     *
     * @param handler answers requests
     * @param idle the last turns have found nothing to do, so this one looks everywhere
     * @return the amount of work
     */
    int doWork(RequestHandler handler, boolean idle) {
        int work = connect();
        if (idle || ++turns % TURNS_BETWEEN_LOOKS == 0) {
            work += accept();
        }
        // First all polls, which may drive the device: no message comes between a look at its ring and the end of the
        // turn.
        for (int i = 0; i < peers.size(); i++) {
            PeerLink link = peers.get(i).link;
            if (link != null) {
                work += link.doWork();
            }
        }
        for (int i = 0; i < peers.size(); i++) {
            Peer peer = peers.get(i);
            PeerLink link = peer.link;
            if (link == null) {
                continue;
            }
            for (ByteBuffer message = link.receive(); message != null; message = link.receive()) {
                work++;
                receive(peer.machine, peer, message, handler);
            }
            if (link.isBroken() && peer.link == link) {
                drop(peer);
            }
            send(peer);
        }
        return work;
    }

    private void receive(int machine, Peer peer, ByteBuffer message, RequestHandler handler) {
        if (!NodeMessageDescriptor.isValid(message) || NodeMessageDescriptor.machine(message) != machine) {
            drop(peer);
        } else if (!NodeMessageDescriptor.isAnswer(message)) {
            answer(machine, message, handler);
        } else if (NodeMessageDescriptor.epoch(message) == member.epoch()) {
            take(peer, message);
        }
    }

    private void answer(int machine, ByteBuffer request, RequestHandler handler) {
        int epoch = NodeMessageDescriptor.epoch(request);
        if (epoch < member.epoch()) {
            reply(machine, request, NodeMessageDescriptor.answer(NodeVerdict.OLDER_EPOCH, 0));
        } else if (epoch > member.epoch()) {
            reply(machine, request, NodeMessageDescriptor.answer(NodeVerdict.NEWER_EPOCH, 0));
        } else {
            handler.onRequest(machine, request, answer -> reply(machine, request, answer));
        }
    }

    /** If the connection has ended meanwhile, the request comes again. */
    private void reply(int machine, ByteBuffer request, ByteBuffer answer) {
        PeerLink link = link(machine);
        if (link != null) {
            NodeMessageDescriptor.answers(answer, request);
            NodeMessageDescriptor.stamp(
                    answer,
                    member.machine(),
                    member.epoch(),
                    NodeMessageDescriptor.number(request),
                    truncated.getAsLong());
            link.send(answer);
        }
    }

    private static void take(Peer peer, ByteBuffer answer) {
        Lane lane = peer.lane(NodeMessageDescriptor.kind(answer));
        int position = 0;
        for (Iterator<Request> each = lane.requests.iterator(); each.hasNext() && position < lane.sent; position++) {
            Request request = each.next();
            if (NodeMessageDescriptor.number(request.message) == NodeMessageDescriptor.number(answer)) {
                each.remove();
                lane.sent--;
                request.handler.onAnswer(answer);
                return;
            }
        }
    }

    // ---- connections

    private int accept() {
        Optional<ConnectionRequest> next = listener.next(0);
        if (next.isEmpty()) {
            return 0;
        }
        try (ConnectionRequest request = next.get()) {
            byte[] hello = request.privateData();
            if (NodeHelloDescriptor.isFor(hello, environment.cluster(), environment.ring())) {
                int machine = NodeHelloDescriptor.machine(hello);
                if (member.configuration().members().contains(machine) && machine > member.machine()) {
                    Peer peer = peer(machine);
                    drop(peer);
                    peer.link = PeerLink.accept(environment, request, hello);
                }
            }
        } catch (VerbsException e) {
            return 1; // the peer is gone already, or there is no memory for it
        }
        return 1;
    }

    private int connect() {
        if (!member.isMember()) {
            return 0;
        }
        if (connectsFor != member.configuration()) {
            connectsFor = member.configuration();
            lower = connectsFor.members().headSet(member.machine()).stream()
                    .mapToInt(Integer::intValue)
                    .toArray();
        }
        for (int machine : lower) {
            Peer peer = peer(machine);
            if (peer.link != null) {
                continue;
            }
            InetSocketAddress address = membership.address(machine);
            long nowNs = context.nanoClock().nanoTime();
            if (address != null && (peer.connectNs == Long.MIN_VALUE || nowNs - peer.connectNs >= 0)) {
                try {
                    Connector connector = device.resolve(address, context.connectTimeoutNs());
                    peer.link = PeerLink.connect(environment, connector, machine, context.connectTimeoutNs());
                } catch (VerbsException | FarmException e) {
                    peer.connectNs = context.nanoClock().nanoTime()
                            + PAUSE_NS
                            + context.random().nextLong(PAUSE_NS);
                }
                return 1; // others have waited
            }
        }
        return 0;
    }

    @Override
    public void close() {
        List<Peer> all = List.copyOf(peers);
        peers.clear();
        all.forEach(Peers::drop);
        listener.close();
    }
}
