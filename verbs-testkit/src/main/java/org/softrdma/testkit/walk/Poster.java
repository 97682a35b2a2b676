package org.softrdma.testkit.walk;

import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.testkit.walk.WalkRequest.Manner;
import org.softrdma.testkit.walk.WalkRequest.Operands;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/** Posts requests of every kind, lawful or not, and works out what must come of them. The walk's thread. */
final class Poster {
    private static final int FAULTY = 3;
    private static final int OVERLAPPING = 20;

    private final WalkState state;
    private final PartChooser parts;
    private final SendWorkRequest send = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();

    Poster(WalkState state) {
        this.state = state;
        parts = new PartChooser(state);
    }

    // ---- RECV

    boolean postReceive(WalkEnd end) {
        boolean faulty = state.breaks(FAULTY);
        List<Part> sinks = faulty
                ? parts.faulty(end, CompletionOpcode.RECEIVE)
                : parts.sinks(end.domain(), end.verbs().limits().maxReceiveScatterGather());
        if (sinks.isEmpty()) {
            return false;
        }
        WalkRequest request = new WalkRequest(
                state.nextId(),
                end,
                CompletionOpcode.RECEIVE,
                new Manner(true, false, false),
                sinks,
                null,
                faulty ? Fault.LOCAL : Fault.NONE);
        List<Claim> claims = faulty ? List.of() : Conflicts.local(request, true);
        boolean full = end.receives().size() >= end.verbs().limits().maxReceiveWorkRequests();
        if (isUnwanted(claims, request) || (full && state.settings().lawful())) {
            return false;
        }
        state.note("post " + request + " on " + end);
        receive.receive(request.wrId());
        sinks.forEach(part -> receive.add(
                part.region().base() + part.offset(),
                part.length(),
                part.region().lkey()));
        if (!accepted(end, request, end.verbs().post(receive), full)) {
            return true;
        }
        Conflicts.take(request, claims);
        end.receives().add(request);
        end.allReceives().add(request);
        match(end.peer(), end.allReceives().size() - 1);
        return true;
    }

    // ---- SEND, WRITE, READ

    boolean postSend(WalkEnd end) {
        return post(end, CompletionOpcode.SEND, Operands.NONE);
    }

    boolean postWrite(WalkEnd end) {
        return post(end, CompletionOpcode.WRITE, Operands.NONE);
    }

    boolean postWriteImmediate(WalkEnd end) {
        return state.uses(end.node(), Feature.WRITE_IMMEDIATE)
                && isExpected(end, 0)
                && post(end, CompletionOpcode.WRITE, Operands.of(state.random().nextInt()));
    }

    boolean postRead(WalkEnd end) {
        return post(end, CompletionOpcode.READ, Operands.NONE);
    }

    /** A READ of nothing: once it completes, every WRITE before it is at the peer. */
    boolean postEmptyRead(WalkEnd end) {
        WalkRegion any = state.any(end.domain().regions()).orElse(null);
        if (any == null || isFull(end) || end.connection().mayEnd()) {
            return false;
        }
        WalkRequest request = new WalkRequest(
                state.nextId(),
                end,
                CompletionOpcode.READ,
                new Manner(true, false, false),
                List.of(new Part(any, 0, 0)),
                new Part(any, 0, 0),
                Fault.NONE);
        postPrepared(end, request, List.of());
        return true;
    }

    static boolean isFull(WalkEnd end) {
        return end.sends().size() >= end.verbs().limits().maxSendWorkRequests();
    }

    /** True if a request may be posted there now, as far as its end is concerned. */
    boolean mayPost(WalkEnd end) {
        if (end.verbs().state() == QueuePairState.ERROR && !state.breaks(10)) {
            return false;
        }
        return !state.settings().lawful() || (!isFull(end) && !end.connection().mayEnd());
    }

    private boolean post(WalkEnd end, CompletionOpcode kind, Operands operands) {
        if (!mayPost(end)) {
            return false;
        }
        Fault fault = fault(kind);
        List<Part> local = fault == Fault.LOCAL
                ? parts.faulty(end, kind)
                : kind == CompletionOpcode.READ
                        ? parts.readSink(end.domain())
                        : parts.sources(end.domain(), end.verbs().limits().maxSendScatterGather());
        int length = local.stream().mapToInt(Part::length).sum();
        if (local.isEmpty() || (fault == Fault.REMOTE && length == 0)) {
            return false;
        }
        Part remote = null;
        if (kind != CompletionOpcode.SEND) {
            AccessFlag right = kind == CompletionOpcode.WRITE ? AccessFlag.REMOTE_WRITE : AccessFlag.REMOTE_READ;
            remote = fault == Fault.REMOTE
                    ? parts.faultyRemote(end.peer(), length, right)
                    : parts.remote(end.peer(), length, right);
            if (remote == null) {
                return false;
            }
        } else if (!isExpected(end, length)) {
            return false;
        }
        WalkRequest request = new WalkRequest(
                        state.nextId(), end, kind, manner(end, kind, fault, length), local, remote, fault)
                .with(operands);
        List<Claim> claims = Conflicts.of(request);
        if (isUnwanted(claims, request)) {
            return false;
        }
        postPrepared(end, request, claims);
        return true;
    }

    private Fault fault(CompletionOpcode kind) {
        if (!state.breaks(FAULTY)) {
            return Fault.NONE;
        }
        return kind == CompletionOpcode.SEND || state.percent(50) ? Fault.LOCAL : Fault.REMOTE;
    }

    /** A SEND needs a RECV that is long enough; now and then it goes without. */
    private boolean isExpected(WalkEnd end, int length) {
        List<WalkRequest> receives = end.peer().allReceives();
        int index = end.messages().size();
        boolean fits = index < receives.size() && length <= receives.get(index).length();
        return fits || state.breaks(4);
    }

    Manner manner(WalkEnd end, CompletionOpcode kind, Fault fault, int length) {
        boolean inline = (kind == CompletionOpcode.SEND || kind == CompletionOpcode.WRITE)
                && fault != Fault.LOCAL
                && length <= end.verbs().limits().maxInline()
                && state.percent(30);
        // A queue without a signalled request never gets its slots back.
        boolean starving = end.sends().size() + 2 > end.verbs().limits().maxSendWorkRequests() / 2;
        boolean signalled = end.signalsAll() || starving || state.percent(75);
        return new Manner(signalled, state.percent(15), inline);
    }

    boolean isUnwanted(List<Claim> claims, WalkRequest request) {
        return Conflicts.exist(claims, request) && !state.breaks(OVERLAPPING);
    }

    void postPrepared(WalkEnd end, WalkRequest request, List<Claim> claims) {
        boolean full = isFull(end);
        state.note("post " + request + " on " + end);
        request.data(Conflicts.data(request));
        if (!accepted(end, request, post(end, request), full)) {
            return;
        }
        request.written(Conflicts.written(request));
        Conflicts.take(request, claims);
        end.sends().add(request);
        if (request.fault() != Fault.NONE) {
            end.connection().mustEnd(request);
        }
        if (request.isMessage()) {
            end.messages().add(request);
            match(end, end.messages().size() - 1);
        }
        if (request.changesPeer() && request.length() > 0 && request.fault() != Fault.LOCAL) {
            end.unplaced().add(request);
        }
    }

    private boolean accepted(WalkEnd end, WalkRequest request, PostStatus status, boolean full) {
        if ((status == PostStatus.QUEUE_FULL) != full) {
            throw new WalkFailure(request + " on " + end + " was " + status + ", and of its queue "
                    + (request.kind() == CompletionOpcode.RECEIVE ? end.receives() : end.sends()) + " is outstanding; "
                    + end.verbs().limits());
        }
        state.count("posted " + request.kind() + (full ? ", full" : ""));
        return !full;
    }

    private PostStatus post(WalkEnd end, WalkRequest request) {
        int flags = (request.isSignalled() ? SendFlags.SIGNALLED : 0)
                | (request.isFenced() ? SendFlags.FENCE : 0)
                | (request.isInline() ? SendFlags.INLINE : 0);
        Part first = request.parts().getFirst();
        boolean single = request.parts().size() == 1 && first.region().isOpen() && state.percent(50);
        switch (request.kind()) {
            case SEND -> {
                if (single) {
                    return end.verbs()
                            .postSend(request.wrId(), first.region().verbs(), first.offset(), first.length(), flags);
                }
                send.send(request.wrId(), flags);
            }
            case WRITE -> fillWrite(request, flags);
            case COMPARE_AND_SWAP ->
                send.compareAndSwap(
                        request.wrId(),
                        address(request.remote()),
                        request.remote().region().key(),
                        request.operands().compareAdd(),
                        request.operands().swap(),
                        flags);
            case FETCH_AND_ADD ->
                send.fetchAndAdd(
                        request.wrId(),
                        address(request.remote()),
                        request.remote().region().key(),
                        request.operands().compareAdd(),
                        flags);
            default ->
                send.read(
                        request.wrId(),
                        address(request.remote()),
                        request.remote().region().key(),
                        flags);
        }
        for (Part part : request.parts()) {
            if (request.isInline()) {
                send.add(part.region().verbs(), part.offset(), part.length());
            } else {
                send.add(
                        part.region().base() + part.offset(),
                        part.length(),
                        part.region().lkey());
            }
        }
        return end.verbs().post(send);
    }

    private void fillWrite(WalkRequest request, int flags) {
        long address = address(request.remote());
        int key = request.remote().region().key();
        OptionalInt immediate = request.operands().immediate();
        if (immediate.isPresent()) {
            send.writeImmediate(request.wrId(), address, key, immediate.getAsInt(), flags);
        } else {
            send.write(request.wrId(), address, key, flags);
        }
    }

    private static long address(Part remote) {
        return remote.region().base() + remote.offset();
    }

    // ---- SENDs and RECVs find each other by their numbers

    /** Sees what comes of the SEND and the RECV with a number, if both are there. */
    static void match(WalkEnd sender, int index) {
        List<WalkRequest> receives = sender.peer().allReceives();
        if (index >= sender.messages().size()) {
            return;
        }
        WalkRequest message = sender.messages().get(index);
        @Nullable WalkRequest receive = index < receives.size() ? receives.get(index) : null;
        if (receive == null) {
            sender.connection().mayEnd(message + " without a RECV");
        } else if (!message.isOneSided()
                && (message.length() > receive.length() || (receive.fault() != Fault.NONE && message.length() > 0))) {
            sender.connection().mustEnd(message + " into " + receive);
        } else if (receive.isVulnerable() || receive.fault() != Fault.NONE) {
            sender.connection().mayEnd(message + " into " + receive);
        }
    }
}
