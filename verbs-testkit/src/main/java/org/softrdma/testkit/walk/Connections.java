package org.softrdma.testkit.walk;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** Makes, ends and closes connections, and the queues that they need. The walk's thread; one more connects. */
final class Connections {
    private static final int MOST_QUEUES = 4;
    private static final int MOST_DOMAINS = 3;
    private static final int MOST_ENDS = 6;
    private static final int MOST_REQUESTS = 24;
    private static final int ENTRIES = 400;
    private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(20);

    private final WalkState state;
    private final Poster poster;

    Connections(WalkState state, Poster poster) {
        this.state = state;
        this.poster = poster;
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

    boolean makeQueue(WalkNode node) {
        if (node.queues().size() >= MOST_QUEUES) {
            return false;
        }
        CompletionChannel channel = state.percent(50) ? node.device().createCompletionChannel() : null;
        int entries = state.between(MOST_REQUESTS * 4, ENTRIES);
        state.note("create queue " + node.queues().size() + " of " + node + " for " + entries);
        return node.queues()
                .add(new WalkQueue(
                        channel == null
                                ? node.device().createCompletionQueue(entries)
                                : node.device().createCompletionQueue(entries, channel, 0),
                        channel));
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
                state.between(1, MOST_REQUESTS), state.between(1, MOST_REQUESTS), 3, 3, state.percent(50) ? 64 : 0);
        List<WalkQueue> roomy = node.queues().stream()
                .filter(queue -> queue.hasRoom(MOST_REQUESTS * 4))
                .toList();
        WalkQueue sends = state.any(roomy).orElseGet(() -> ownQueue(node));
        WalkQueue receives = state.any(roomy).orElse(sends);
        boolean all = state.percent(20);
        WalkDomain domain = state.any(node.domains()).orElseThrow();
        QueuePair queuePair =
                maker.make(domain.verbs(), new QueuePairAttributes(sends.verbs(), receives.verbs(), limits, all));
        WalkEnd end = new WalkEnd(node, domain, queuePair, new WalkEnd.Completions(sends, receives, all), connection);
        sends.attach(end, queuePair.limits().maxSendWorkRequests());
        receives.attach(end, queuePair.limits().maxReceiveWorkRequests());
        domain.ends().add(end);
        node.ends().add(end);
        connection.add(end);
        for (int i = state.below(4); i > 0; i--) {
            poster.postReceive(end);
        }
        return end;
    }

    private WalkQueue ownQueue(WalkNode node) {
        WalkQueue queue = new WalkQueue(node.device().createCompletionQueue(ENTRIES), null);
        node.queues().add(queue);
        return queue;
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
        for (WalkRequest write : end.peer().unplaced()) {
            write.forgetWritten();
        }
        end.peer().unplaced().clear();
        end.sendCompletions().detach(end, end.verbs().limits().maxSendWorkRequests());
        end.receiveCompletions().detach(end, end.verbs().limits().maxReceiveWorkRequests());
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
