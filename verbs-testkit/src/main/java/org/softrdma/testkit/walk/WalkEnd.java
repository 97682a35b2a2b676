package org.softrdma.testkit.walk;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairState;

/** A queue pair and the requests on it. The walk's thread. */
final class WalkEnd {
    private final WalkNode node;
    private final WalkDomain domain;
    private final QueuePair queuePair;
    private final WalkQueue sendCompletions;
    private final WalkQueue receiveCompletions;
    private final WalkConnection connection;
    private final boolean signalsAll;
    private final @Nullable WalkSharedQueue shared;
    private final Deque<WalkRequest> sends = new ArrayDeque<>();
    private final Deque<WalkRequest> receives = new ArrayDeque<>();
    private final List<WalkRequest> messages = new ArrayList<>();
    private final List<WalkRequest> allReceives = new ArrayList<>();
    private final List<WalkRequest> unplaced = new ArrayList<>();
    private int received;
    private boolean sendFailed;
    private boolean receiveFailed;
    private boolean lastReached;

    WalkEnd(WalkNode node, WalkDomain domain, QueuePair queuePair, Completions completions, WalkConnection connection) {
        this.node = node;
        this.domain = domain;
        this.queuePair = queuePair;
        this.connection = connection;
        sendCompletions = completions.sends();
        receiveCompletions = completions.receives();
        signalsAll = completions.ofAll();
        shared = completions.shared();
    }

    /** Where its completions go, whether every request of its send queue gives one, and where it shares RECVs. */
    record Completions(
            WalkQueue sends,
            WalkQueue receives,
            boolean ofAll,
            @Nullable WalkSharedQueue shared) {}

    /** Where its RECVs come from; null if it has its own. */
    @Nullable
    WalkSharedQueue shared() {
        return shared;
    }

    boolean signalsAll() {
        return signalsAll;
    }

    WalkNode node() {
        return node;
    }

    WalkDomain domain() {
        return domain;
    }

    QueuePair verbs() {
        return queuePair;
    }

    WalkQueue sendCompletions() {
        return sendCompletions;
    }

    WalkQueue receiveCompletions() {
        return receiveCompletions;
    }

    WalkConnection connection() {
        return connection;
    }

    WalkEnd peer() {
        return connection.peer(this);
    }

    /** Its connection has been made, whatever came of it since. */
    boolean isMade() {
        return connection.ends().size() == 2 && queuePair.state() != QueuePairState.INITIAL;
    }

    boolean isOpen() {
        return node.ends().contains(this) && !node.isDead();
    }

    /** Requests that hold slots of the send queue, oldest first. */
    Deque<WalkRequest> sends() {
        return sends;
    }

    /** RECVs that hold slots of its own receive queue, oldest first. */
    Deque<WalkRequest> receives() {
        return receives;
    }

    /** Every SEND so far, in order. */
    List<WalkRequest> messages() {
        return messages;
    }

    /** The RECV that a completion with this number must be of; null if there is none. */
    @Nullable
    WalkRequest receive(long wrId) {
        if (shared != null) {
            return shared.receives().get(wrId);
        }
        WalkRequest next = receives.peekFirst();
        return next != null && next.wrId() == wrId ? next : null;
    }

    /** The completion of a RECV was polled. */
    void removeReceive(WalkRequest receive) {
        if (shared != null) {
            shared.receives().remove(receive.wrId());
        } else {
            receives.removeFirst();
        }
    }

    /** Most completions of RECVs that may be in a queue. */
    int receiveCapacity() {
        return shared == null
                ? queuePair.limits().maxReceiveWorkRequests()
                : shared.verbs().maxWorkRequests();
    }

    /** Every RECV of its own so far, in order. */
    List<WalkRequest> allReceives() {
        return allReceives;
    }

    /** WRITEs of which nothing proves yet that the peer's memory has them, oldest first. */
    List<WalkRequest> unplaced() {
        return unplaced;
    }

    /** How many RECVs have completed with success. */
    int received() {
        return received;
    }

    void receivedOne() {
        received++;
    }

    /** Messages of the peer that may still take a RECV or have taken one whose completion was not polled. */
    List<WalkRequest> unreceived() {
        List<WalkRequest> sent = peer().messages();
        return receiveFailed || peer() == this ? List.of() : sent.subList(received, sent.size());
    }

    boolean sendFailed() {
        return sendFailed;
    }

    void failSends() {
        sendFailed = true;
    }

    boolean receiveFailed() {
        return receiveFailed;
    }

    void failReceives() {
        receiveFailed = true;
    }

    /** It was told that no more RECVs of its shared queue are taken. */
    boolean lastReached() {
        return lastReached;
    }

    void reachLast() {
        lastReached = true;
    }

    @Override
    public String toString() {
        return "queue pair " + queuePair.number() + " of " + node;
    }
}
