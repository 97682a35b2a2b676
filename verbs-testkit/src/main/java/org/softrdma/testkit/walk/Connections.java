package org.softrdma.testkit.walk;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** Makes, ends and closes connections, and the queues that they need. The walk's thread; one more connects. */
final class Connections {
    private static final int MOST_DOMAINS = 3;
    private static final int MOST_ENDS = 6;

    private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(20);

    private final WalkState state;
    private final ReceivePoster receives;
    private final CompletionQueues queues;
    private final SharedQueues sharedQueues;

    Connections(WalkState state, ReceivePoster receives, CompletionQueues queues, SharedQueues sharedQueues) {
        this.state = state;
        this.receives = receives;
        this.queues = queues;
        this.sharedQueues = sharedQueues;
    }

    /** How an attempt ended; written by the thread that connects. */
    private static final class Attempt {
        volatile boolean done;
        volatile byte @Nullable [] reply;
        volatile @Nullable RuntimeException failure;
    }

    private interface Maker {
        QueuePair make(ProtectionDomain domain, QueuePairAttributes attributes);
    }

    boolean makeDomain(WalkNode node) {
        if (node.domains().size() >= MOST_DOMAINS) {
            return false;
        }
        state.note("allocate domain " + node.domains().size() + " of " + node);
        return node.domains().add(new WalkDomain(node.device().allocateProtectionDomain()));
    }

    /** Connects two nodes; the one that is asked rejects now and then. */
    boolean connect(WalkNode from) {
        WalkNode to = state.any(
                        state.liveNodes().stream().filter(node -> node != from).toList())
                .orElse(null);
        if (to == null || from.ends().size() >= MOST_ENDS || to.ends().size() >= MOST_ENDS) {
            return false;
        }
        WalkConnection connection = new WalkConnection();
        if (state.environment().faults().map(WalkFaults::unannounced).orElse(false)) {
            connection.mayLoseHost("the environment's plan of faults");
        }
        byte[] token = ByteBuffer.allocate(Long.BYTES).putLong(state.nextId()).array();
        boolean priv = from.device().capabilities().maxPrivateData() >= token.length;
        ConnectionParameters parameters =
                ConnectionParameters.ofReads(state.between(1, 8)).withPrivateData(priv ? token : new byte[0]);
        state.note("connect " + from + " to " + to);
        boolean reject = state.percent(8);
        try (Connector connector = from.device()
                .resolve(new InetSocketAddress(state.environment().address(to.index()), port(to)), CONNECT_NS)) {
            WalkEnd active = end(from, connector::createQueuePair, connection);
            Attempt attempt = new Attempt();
            state.environment().start("connect", () -> connect(connector, parameters, attempt));
            boolean answered = answer(to, connection, priv ? token : new byte[0], reject);
            if (!state.await(WalkState.PATIENCE_NS, () -> attempt.done)) {
                throw new WalkFailure("connecting " + from + " to " + to + " has no end");
            }
            judge(active, attempt, priv, answered, reject);
        }
        state.connections().add(connection);
        return true;
    }

    private static int port(WalkNode node) {
        return node.listener().localAddress().getPort();
    }

    private static void connect(Connector connector, ConnectionParameters parameters, Attempt attempt) {
        try {
            attempt.reply = connector.connect(parameters, CONNECT_NS);
        } catch (RuntimeException e) {
            attempt.failure = e;
        }
        attempt.done = true;
    }

    /** True if there was a request to answer. */
    private boolean answer(WalkNode to, WalkConnection connection, byte[] token, boolean reject) {
        long endNs = state.environment().nanoTime() + CONNECT_NS;
        while (state.environment().nanoTime() - endNs < 0) {
            Optional<ConnectionRequest> next =
                    to.listener().next(endNs - state.environment().nanoTime());
            if (next.isEmpty()) {
                break;
            }
            try (ConnectionRequest request = next.get()) {
                if (!Arrays.equals(token, Arrays.copyOf(request.privateData(), token.length))) {
                    continue; // an attempt that has ended already
                }
                if (reject) {
                    state.note("reject");
                    request.reject(token);
                    return true;
                }
                WalkEnd passive = end(to, request::createQueuePair, connection);
                request.accept(ConnectionParameters.ofReads(state.between(1, 8)).withPrivateData(token));
                requireState(passive);
                return true;
            } catch (VerbsException e) {
                requireCause(connection, "accepting failed", e);
                return true;
            }
        }
        requireCause(connection, "no request came", null);
        return false;
    }

    private void judge(WalkEnd active, Attempt attempt, boolean priv, boolean answered, boolean reject) {
        RuntimeException failure = attempt.failure;
        WalkConnection connection = active.connection();
        if (failure == null) {
            byte[] reply = attempt.reply;
            if (reject || reply == null || (priv && reply.length < Long.BYTES)) {
                throw new WalkFailure("connect returned although the peer has "
                        + (reject ? "rejected" : "accepted with private data, and without it"));
            }
            requireState(active);
            return;
        }
        boolean rejected = failure instanceof ConnectionRejectedException;
        if (!(rejected && reject)) {
            requireCause(connection, "connecting failed", failure);
        }
        connection.mustEnd("it was never made: " + failure.getMessage());
        state.count(rejected ? "rejected" : "not connected");
        if (!answered) {
            state.note("nobody answered: " + failure.getMessage());
        }
    }

    private static void requireState(WalkEnd end) {
        QueuePairState now = end.verbs().state();
        if (now != QueuePairState.READY_TO_SEND && !end.connection().mayEnd()) {
            throw new WalkFailure(end + " is " + now + " once it is connected");
        }
    }

    private void requireCause(WalkConnection connection, String what, @Nullable RuntimeException failure) {
        boolean expected = failure == null || failure instanceof VerbsException;
        if (!expected || !(connection.mayEnd() || state.hadFaults())) {
            WalkFailure disagreement = new WalkFailure(what + ": " + failure);
            if (failure != null) {
                disagreement.initCause(failure);
            }
            throw disagreement;
        }
        connection.mustEnd(what);
    }

    private WalkEnd end(WalkNode node, Maker maker, WalkConnection connection) {
        QueuePairLimits limits = new QueuePairLimits(
                state.between(1, WalkQueue.MOST_REQUESTS),
                state.between(1, WalkQueue.MOST_REQUESTS),
                3,
                3,
                state.percent(50) ? 64 : 0);
        List<WalkQueue> roomy = queues.roomy(node);
        WalkQueue sends = state.any(roomy).orElseGet(() -> queues.own(node));
        WalkQueue receiving = state.any(roomy).orElse(sends);
        boolean all = state.percent(20);
        WalkDomain domain = state.any(node.domains()).orElseThrow();
        WalkSharedQueue shared = sharedQueues.choose(node).orElse(null);
        QueuePairAttributes attributes =
                new QueuePairAttributes(sends.verbs(), receiving.verbs(), limits, all, verbs(shared), false);
        WalkEnd.Completions completions = new WalkEnd.Completions(sends, receiving, all, shared);
        WalkEnd end = new WalkEnd(node, domain, maker.make(domain.verbs(), attributes), completions, connection);
        sends.attach(end, end.verbs().limits().maxSendWorkRequests());
        receiving.attach(end, end.receiveCapacity());
        if (shared != null) {
            shared.ends().add(end);
            state.count("queue pairs on shared queues");
        }
        domain.ends().add(end);
        node.ends().add(end);
        connection.add(end);
        for (int i = state.below(4); i > 0; i--) {
            receives.post(end);
        }
        return end;
    }

    private static @Nullable SharedReceiveQueue verbs(@Nullable WalkSharedQueue shared) {
        return shared == null ? null : shared.verbs();
    }

    boolean disconnect(WalkEnd end) {
        state.note("disconnect " + end);
        end.connection().mustEnd("the disconnect of " + end);
        end.verbs().disconnect();
        return true;
    }

    /** Closes a queue pair: its requests never complete, and its device touches no memory for it. */
    boolean close(WalkEnd end) {
        state.note("close " + end);
        end.connection().mustEnd("the close of " + end);
        end.verbs().close();
        end.sends().forEach(Connections::abandon);
        end.receives().forEach(Connections::abandon);
        end.sends().clear();
        end.receives().clear();
        // The answers to atomics may still come to the peer.
        end.peer().unplaced().forEach(WalkRequest::abandonAtPeer);
        end.peer().unplaced().clear();
        Bindings.open(end.node()).stream()
                .filter(binding -> binding.end() == end)
                .forEach(Bindings::gone);
        WalkSharedQueue shared = end.shared();
        if (shared != null) {
            shared.leave(end);
        }
        end.sendCompletions().detach(end, end.verbs().limits().maxSendWorkRequests());
        end.receiveCompletions().detach(end, end.receiveCapacity());
        end.domain().ends().remove(end);
        end.node().ends().remove(end);
        if (end.verbs().state() != QueuePairState.CLOSED) {
            throw new WalkFailure(end + " is " + end.verbs().state() + " once it is closed");
        }
        end.node().buffers().forEach(WalkBuffer::check);
        return true;
    }

    /** It will not complete; a WRITE may still come to the peer. */
    private static void abandon(WalkRequest request) {
        request.release(false);
        if (request.changesHere()) {
            request.forgetWrittenHere();
        }
    }
}
