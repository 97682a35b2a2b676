package org.softrdma.sim.roce.cm;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.CmIds;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.PrivateData;

/**
 * One end of a connection, from the REQ until it is forgotten. It answers each message that comes again as it has answered it
 * before, and sends its own again until they are answered, or it has done so often enough.
 *
 * <p>Thread: that of its {@link CommunicationManager}.
 */
public final class CmConnection {
    /** In an MRA and a REJ: which message is meant. */
    private static final int REQUEST = ConnectReject.OF_REQUEST;

    private static final int REPLY = ConnectReject.OF_REPLY;

    private final CmContext context;
    private final Hooks hooks;
    private final CmPeer peer;
    private final int localId;
    private final long transaction;
    private final boolean active;
    /** That of this side, or of the peer. */
    private final ConnectRequest request;

    private final Repetition repetition;
    private final CmTimers.Timer timer = new CmTimers.Timer() {
        @Override
        void expired(long nowNs) {
            CmConnection.this.expired(nowNs);
        }
    };

    private CmState state;
    private @Nullable CmEvents events;
    /** That of the peer, or of this side. */
    private @Nullable ConnectReply reply;
    /** What this side has refused or given up; private data of the REJ is there from then on. */
    private int rejected;

    private int rejectionReason;
    private @Nullable PrivateData rejectionData;

    private int remoteId;
    /** Made when they become known: an end needs no memory. */
    private CmIds ids;

    /** An MRA was sent: the peer waits. */
    private boolean receiptSent;
    /** When a refusal need not be repeated any more. */
    private long forgetAtNs;

    /** What its manager does about it: when the application has decided on a request, and when it is forgotten. */
    record Hooks(Runnable decided, Runnable forgotten) {}

    /** Whose connection it is: its peer, the communication id of this side, and the transaction of the exchange. */
    record Identity(CmPeer peer, int localId, long transaction) {}

    private CmConnection(
            CmContext context, Hooks hooks, Identity identity, ConnectRequest request, CmState state, int remoteId) {
        this.context = context;
        this.hooks = hooks;
        peer = identity.peer();
        localId = identity.localId();
        transaction = identity.transaction();
        active = state == CmState.REQUEST_SENT;
        this.request = request;
        this.state = state;
        this.remoteId = remoteId;
        ids = new CmIds(localId, remoteId);
        repetition = new Repetition(context.settings);
        context.timers.keep(timer); // last
    }

    /** That of the side which sends a REQ; {@link #begin} follows. */
    static CmConnection active(
            CmContext context, Hooks hooks, Identity identity, ConnectRequest request, CmEvents events) {
        CmConnection made = new CmConnection(context, hooks, identity, request, CmState.REQUEST_SENT, 0);
        made.events = events;
        return made;
    }

    /** Active side: its manager knows it. */
    void begin(long nowNs) {
        repeatLater(context.settings.repeats(), nowNs);
        sendRequest();
    }

    /** That of the side which has received a REQ; {@link #ownedBy} follows. */
    static CmConnection passive(CmContext context, Hooks hooks, Identity identity, ConnectRequest request) {
        int id = request.endpoint().communicationId();
        return new CmConnection(context, hooks, identity, request, CmState.REQUEST_RECEIVED, id);
    }

    void ownedBy(CmEvents owner) {
        events = owner;
    }

    /** It never was: its manager could not take it in, for want of memory. */
    void discard() {
        context.timers.remove(timer);
    }

    // ---- what it is

    /** Where it is. */
    public CmState state() {
        return state;
    }

    /** The other side. */
    public CmPeer peer() {
        return peer;
    }

    /** The REQ: of this side, or of the peer. */
    public ConnectRequest request() {
        return request;
    }

    /** Communication id of this side. */
    public int localId() {
        return localId;
    }

    /** The end of the peer; null before it is known. */
    public @Nullable CmEndpoint remoteEndpoint() {
        return active ? (reply == null ? null : reply.endpoint()) : request.endpoint();
    }

    private @Nullable CmEndpoint localEndpoint() {
        return active ? request.endpoint() : (reply == null ? null : reply.endpoint());
    }

    private void become(CmState next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException("a connection in state " + state + " cannot become " + next);
        }
        CmState was = state;
        state = next;
        timer.cancel();
        if (was == CmState.REQUEST_RECEIVED) {
            hooks.decided().run();
        }
    }

    private void require(CmState expected, String call) {
        if (state != expected) {
            throw new IllegalStateException(call + " in state " + state + ": expected " + expected);
        }
    }

    private CmEvents events() {
        if (events == null) {
            throw new IllegalStateException("a connection without an owner");
        }
        return events;
    }

    // ---- the owner

    /**
     * Passive side: accepts the request. The queue pair answers requests from now on, and sends none before {@link
     * CmEvents#established}.
     *
     * @param endpoint of this side; id and GUID are the manager's
     * @param acknowledgementDelay t: this side acknowledges within 4.096 us x 2^t
     * @param data of the application
     * @param nowNs the time
     */
    public void accept(CmEndpoint endpoint, int acknowledgementDelay, PrivateData data, long nowNs) {
        require(CmState.REQUEST_RECEIVED, "accept");
        reply = new ConnectReply(endpoint.identifiedBy(localId, context.guid), remoteId, acknowledgementDelay, 0, data);
        become(CmState.REPLY_SENT);
        repeatLater(context.settings.repeats(), nowNs);
        sendReply();
    }

    /**
     * Refuses a request, or a reply. {@link CmEvents#failed} does not follow.
     *
     * @param reason one of {@link ConnectReject}
     * @param data of the application
     * @param nowNs the time
     */
    public void reject(int reason, PrivateData data, long nowNs) {
        if (state != CmState.REPLY_RECEIVED) {
            require(CmState.REQUEST_RECEIVED, "reject");
        }
        become(CmState.REJECTED);
        forgetAtNs = nowNs + timeToRemember();
        boolean again = receiptSent && context.settings.disconnectRepeats() > 0;
        context.timers.set(timer, again ? repetition.begin(context.settings.disconnectRepeats(), nowNs) : forgetAtNs);
        sayRejected(active ? REPLY : REQUEST, reason, data);
    }

    /** A request that is still repeated when it is forgotten is taken for a new one. */
    private long timeToRemember() {
        CmSettings settings = context.settings;
        if (active) {
            return settings.timewaitNs();
        }
        long repeatedForNs = settings.repeats() * settings.mostRepeatNs();
        return receiptSent
                ? repeatedForNs + CmTime.ns(settings.serviceTimeout()) + settings.mostRepeatNs()
                : repeatedForNs;
    }

    /** A peer that was asked to wait does not ask again soon: it is told some times. */
    private void rejectAgain(long nowNs) {
        if (receiptSent && repetition.once()) {
            context.counters.countRepeated();
            context.timers.set(timer, repetition.next(nowNs));
            sendRejection();
        } else {
            context.timers.set(timer, forgetAtNs);
        }
    }

    /** Active side: its queue pair sends and answers from now on. */
    public void ready() {
        require(CmState.REPLY_RECEIVED, "ready");
        become(CmState.ESTABLISHED);
        sendReadyToUse();
    }

    /** Passive side: a request has arrived at its queue pair, so the peer knows of the REP, though its RTU may be lost. */
    public void used() {
        if (state == CmState.REPLY_SENT) {
            become(CmState.ESTABLISHED);
            events().established();
        }
    }

    /**
     * Ends it, wherever it is. {@link CmEvents#disconnected} follows if it was established, {@link CmEvents#released} in any case.
     * Idempotent.
     */
    public void disconnect(long nowNs) {
        switch (state) {
            case ESTABLISHED -> {
                become(CmState.DISCONNECT_SENT);
                repeatLater(context.settings.disconnectRepeats(), nowNs);
                sendDisconnectRequest();
            }
            case REQUEST_RECEIVED, REPLY_RECEIVED -> reject(ConnectReject.BY_CONSUMER, PrivateData.NONE, nowNs);
            case REQUEST_SENT, REPLY_SENT -> giveUp(ConnectReject.BY_CONSUMER, nowNs);
            case DISCONNECT_SENT, REJECTED, TIME_WAIT, CLOSED -> {
                // It ends already.
            }
        }
    }

    // ---- messages

    /** The REQ has come again. */
    void requestedAgain() {
        context.counters.countDuplicate();
        switch (state) {
            case REQUEST_RECEIVED -> sendReceipt(REQUEST);
            case REPLY_SENT -> sendReply();
            case REJECTED -> sendRejection();
            case TIME_WAIT -> refuseAsStale();
            default -> {
                // It was sent before what has come meanwhile.
            }
        }
    }

    private void refuseAsStale() {
        context.sendReject(
                peer, transaction, CmContext.rejection(ids, REQUEST, ConnectReject.STALE_CONNECTION, PrivateData.NONE));
    }

    void replied(ConnectReply newReply) {
        switch (state) {
            case REQUEST_SENT -> {
                ids = new CmIds(localId, newReply.endpoint().communicationId());
                reply = newReply;
                remoteId = ids.remoteId();
                become(CmState.REPLY_RECEIVED);
                events().replied(newReply);
            }
            case REPLY_RECEIVED -> repliedAgain(newReply, () -> sendReceipt(REPLY));
            case ESTABLISHED -> repliedAgain(newReply, this::sendReadyToUse);
            case REJECTED -> repliedAgain(newReply, this::sendRejection);
            default -> {
                context.counters.countUnexpected();
                sendRejection(); // if this side has given up: the peer has not heard of it
            }
        }
    }

    private void repliedAgain(ConnectReply newReply, Runnable answer) {
        if (active && newReply.endpoint().communicationId() == remoteId) {
            context.counters.countDuplicate();
            answer.run();
        } else {
            context.counters.countUnexpected();
        }
    }

    void readyToUse(int from) {
        if (state == CmState.REPLY_SENT && from == remoteId) {
            used();
        } else if (!active && from == remoteId) {
            context.counters.countDuplicate();
            sendRejection(); // if this side has given up: the peer has not heard of it
        } else {
            context.counters.countUnexpected();
        }
    }

    void rejected(ConnectReject refusal, long nowNs) {
        if (remoteId != 0 && refusal.localId() != 0 && refusal.localId() != remoteId) {
            context.counters.countUnexpected();
            return;
        }
        if (state.isConnecting()) {
            end(nowNs);
            events().failed(refusal.reason(), refusal.privateData());
        } else if (state == CmState.ESTABLISHED || state == CmState.DISCONNECT_SENT) {
            end(nowNs); // the peer has not heard of it, and gives it up
            events().disconnected();
        } else {
            context.counters.countUnexpected();
        }
    }

    /** The peer has received a message and needs time to answer it. */
    void received(CmIds from, int message, int serviceTimeout, long nowNs) {
        boolean awaited = (state == CmState.REQUEST_SENT && message == REQUEST)
                || (state == CmState.REPLY_SENT && message == REPLY && from.localId() == remoteId);
        if (awaited) {
            context.timers.set(timer, repetition.received(serviceTimeout, nowNs));
        } else {
            context.counters.countUnexpected();
        }
    }

    void disconnectRequested(CmIds from, long itsTransaction, int queuePair, long nowNs) {
        CmEndpoint local = localEndpoint();
        if (from.localId() != remoteId || local == null || local.queuePair() != queuePair) {
            context.counters.countUnexpected();
            return;
        }
        switch (state) {
            case REPLY_SENT, ESTABLISHED, DISCONNECT_SENT -> {
                boolean told = state != CmState.REPLY_SENT;
                end(nowNs);
                context.sendDisconnectReply(peer, itsTransaction, ids);
                if (!told) {
                    events().established(); // its RTU was lost
                }
                events().disconnected();
            }
            case TIME_WAIT -> {
                context.counters.countDuplicate();
                context.sendDisconnectReply(peer, itsTransaction, ids);
            }
            default -> context.counters.countUnexpected();
        }
    }

    void disconnectReplied(int from, long nowNs) {
        if (state == CmState.DISCONNECT_SENT && from == remoteId) {
            end(nowNs);
            events().disconnected();
        } else {
            context.counters.countUnexpected();
        }
    }

    /** The peer was restarted: it has no such connection any more. */
    void peerRestarted(long nowNs) {
        if (state.isConnecting()) {
            end(nowNs);
            events().failed(ConnectReject.STALE_CONNECTION, PrivateData.NONE);
        } else {
            disconnect(nowNs);
        }
    }

    // ---- time

    private void repeatLater(int repeats, long nowNs) {
        context.timers.set(timer, repetition.begin(repeats, nowNs));
    }

    private void expired(long nowNs) {
        switch (state) {
            case REQUEST_SENT, REPLY_SENT, DISCONNECT_SENT -> repeat(nowNs);
            case REJECTED -> {
                if (nowNs < forgetAtNs) {
                    rejectAgain(nowNs);
                } else {
                    forget();
                }
            }
            case TIME_WAIT -> forget();
            default -> throw new IllegalStateException("a timer in state " + state);
        }
    }

    /** If there is no memory for a part of it, all of it is done again. */
    private void forget() {
        hooks.forgotten().run();
        events().released();
        become(CmState.CLOSED);
        context.timers.remove(timer);
    }

    private void repeat(long nowNs) {
        if (!repetition.once()) {
            tooLate(nowNs);
            return;
        }
        context.counters.countRepeated();
        context.timers.set(timer, repetition.next(nowNs));
        switch (state) {
            case REQUEST_SENT -> sendRequest();
            case REPLY_SENT -> sendReply();
            default -> sendDisconnectRequest();
        }
    }

    private void tooLate(long nowNs) {
        if (state == CmState.DISCONNECT_SENT) {
            end(nowNs);
            events().disconnected();
        } else {
            giveUp(ConnectReject.TIMEOUT, nowNs);
            events().failed(ConnectReject.TIMEOUT, PrivateData.NONE);
        }
    }

    /** Tells a peer that may still wait, and tells it again if it goes on. */
    private void giveUp(int reason, long nowNs) {
        int message = active ? REQUEST : REPLY;
        end(nowNs);
        sayRejected(message, reason, PrivateData.NONE);
    }

    private void sayRejected(int message, int reason, PrivateData data) {
        rejected = message;
        rejectionReason = reason;
        rejectionData = data;
        sendRejection();
    }

    private void end(long nowNs) {
        become(CmState.TIME_WAIT);
        context.timers.set(timer, nowNs + context.settings.timewaitNs());
    }

    // ---- sending

    private void sendRequest() {
        request.write(context.mad(), transaction);
        context.send(peer);
    }

    private void sendReply() {
        if (reply != null) {
            reply.write(context.mad(), transaction);
            context.send(peer);
        }
    }

    private void sendReadyToUse() {
        ids.writeReadyToUse(context.mad(), transaction);
        context.send(peer);
    }

    /** If it was refused or given up. A peer that hears nothing of it, because there is no memory, asks again. */
    private void sendRejection() {
        PrivateData data = rejectionData;
        if (data == null) {
            return;
        }
        try {
            context.sendReject(peer, transaction, CmContext.rejection(ids, rejected, rejectionReason, data));
        } catch (OutOfMemoryError e) {
            context.counters.countUnsent();
        }
    }

    private void sendReceipt(int message) {
        receiptSent = true;
        ids.writeMessageReceipt(context.mad(), transaction, message, context.settings.serviceTimeout());
        context.send(peer);
    }

    private void sendDisconnectRequest() {
        CmEndpoint remote = remoteEndpoint();
        if (remote != null) {
            ids.writeDisconnectRequest(context.mad(), transaction, remote.queuePair());
            context.send(peer);
        }
    }
}
