package org.softrdma.testkit.walk;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.softrdma.verbs.QueuePair;

/** A queue pair and the requests on it. The walk's thread. */
final class WalkEnd {
    private final WalkNode node;
    private final WalkDomain domain;
    private final QueuePair queuePair;
    private final WalkQueue sendCompletions;
    private final WalkQueue receiveCompletions;
    private final WalkConnection connection;
    private final boolean signalsAll;
    private final Deque<WalkRequest> sends = new ArrayDeque<>();
    private final Deque<WalkRequest> receives = new ArrayDeque<>();
    private final List<WalkRequest> messages = new ArrayList<>();
    private final List<WalkRequest> allReceives = new ArrayList<>();
    private final List<WalkRequest> unplaced = new ArrayList<>();
    private int received;
    private boolean sendFailed;
    private boolean receiveFailed;

    WalkEnd(WalkNode node, WalkDomain domain, QueuePair queuePair, Completions completions, WalkConnection connection) {
        this.node = node;
        this.domain = domain;
        this.queuePair = queuePair;
        this.connection = connection;
        sendCompletions = completions.sends();
        receiveCompletions = completions.receives();
        signalsAll = completions.ofAll();
    }

    /** Where its completions go, and whether every request of its send queue gives one. */
    record Completions(WalkQueue sends, WalkQueue receives, boolean ofAll) {}

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

    boolean isOpen() {
        return node.ends().contains(this) && !node.isDead();
    }

    /** Requests that hold slots of the send queue, oldest first. */
    Deque<WalkRequest> sends() {
        return sends;
    }

    /** RECVs that hold slots of the receive queue, oldest first. */
    Deque<WalkRequest> receives() {
        return receives;
    }

    /** Every SEND so far, in order. */
    List<WalkRequest> messages() {
        return messages;
    }

    /** Every RECV so far, in order. */
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

    @Override
    public String toString() {
        return "queue pair " + queuePair.number() + " of " + node;
    }
}
