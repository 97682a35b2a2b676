package org.softrdma.testkit.walk;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import org.softrdma.testkit.walk.TargetChooser.Target;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.testkit.walk.WalkRequest.Manner;
import org.softrdma.testkit.walk.WalkRequest.Operands;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/** Posts requests of every kind, lawful or not, and works out what must come of them. The walk's thread. */
final class Poster {
    private static final int FAULTY = 3;

    private final WalkState state;
    private final PartChooser parts;
    private final TargetChooser targets;
    private final SendWorkRequest send = new SendWorkRequest();

    Poster(WalkState state) {
        this.state = state;
        parts = new PartChooser(state);
        targets = new TargetChooser(state);
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
                && post(
                        end,
                        CompletionOpcode.WRITE,
                        Operands.ofImmediate(state.random().nextInt()));
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
        Target target = null;
        if (kind != CompletionOpcode.SEND) {
            AccessFlag right = kind == CompletionOpcode.WRITE ? AccessFlag.REMOTE_WRITE : AccessFlag.REMOTE_READ;
            target = targets.choose(end, length, right, fault == Fault.REMOTE);
            if (target == null) {
                return false;
            }
        } else if (!isExpected(end, length)) {
            return false;
        }
        Part remote = target == null ? null : target.part();
        WalkRequest request = new WalkRequest(
                        state.nextId(), end, kind, manner(end, kind, fault, length), local, remote, fault)
                .with(operands)
                .about(target == null ? null : target.binding());
        return postWanted(request);
    }

    /** Posts a request unless it disturbs others. */
    boolean postWanted(WalkRequest request) {
        List<Claim> claims = Conflicts.of(request);
        if (state.isUnwanted(claims, request)) {
            return false;
        }
        postPrepared(request.end(), request, claims);
        return true;
    }

    private Fault fault(CompletionOpcode kind) {
        if (!state.breaks(FAULTY)) {
            return Fault.NONE;
        }
        return kind == CompletionOpcode.SEND || state.percent(50) ? Fault.LOCAL : Fault.REMOTE;
    }

    /** A message needs a RECV that is long enough; now and then it goes without. */
    boolean isExpected(WalkEnd end, int length) {
        return Messages.fit(end, length) || state.breaks(4);
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

    /** Posts; false if the queue was full. */
    boolean postPrepared(WalkEnd end, WalkRequest request, List<Claim> claims) {
        boolean full = isFull(end);
        state.note("post " + request + " on " + end);
        request.data(Conflicts.data(request));
        if (!state.accepted(request, post(end, request), full, end + " with " + end.sends())) {
            return false;
        }
        request.written(Conflicts.written(request));
        Conflicts.take(request, claims);
        end.sends().add(request);
        if (request.fault() != Fault.NONE) {
            end.connection().mustEnd(request);
        }
        if (request.isMessage()) {
            end.messages().add(request);
            Messages.sent(end);
        }
        if (request.changesPeer() && request.length() > 0 && request.fault() != Fault.LOCAL) {
            end.unplaced().add(request);
        }
        return true;
    }

    private PostStatus post(WalkEnd end, WalkRequest request) {
        int flags = (request.isSignalled() ? SendFlags.SIGNALLED : 0)
                | (request.isFenced() ? SendFlags.FENCE : 0)
                | (request.isInline() ? SendFlags.INLINE : 0);
        if (isSingle(request) && state.percent(50) && request.kind() == CompletionOpcode.SEND) {
            Part only = request.parts().getFirst();
            MemoryRegion region = only.region().verbs();
            OptionalInt key = request.operands().invalidatedKey();
            return key.isPresent()
                    ? end.verbs()
                            .postSendInvalidate(
                                    request.wrId(), region, only.offset(), only.length(), key.getAsInt(), flags)
                    : end.verbs().postSend(request.wrId(), region, only.offset(), only.length(), flags);
        }
        fill(request, flags);
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

    private static boolean isSingle(WalkRequest request) {
        return request.parts().size() == 1
                && request.parts().getFirst().region().isOpen();
    }

    private void fill(WalkRequest request, int flags) {
        switch (request.kind()) {
            case SEND -> {
                OptionalInt key = request.operands().invalidatedKey();
                if (key.isPresent()) {
                    send.sendInvalidate(request.wrId(), key.getAsInt(), flags);
                } else {
                    send.send(request.wrId(), flags);
                }
            }
            case BIND_WINDOW -> {
                WalkBinding binding = Objects.requireNonNull(request.binding());
                send.bindWindow(request.wrId(), binding.window().verbs(), binding.access(), flags);
            }
            case INVALIDATE ->
                send.invalidate(
                        request.wrId(), request.operands().invalidatedKey().orElseThrow(), flags);
            case WRITE -> fillWrite(request, flags);
            case COMPARE_AND_SWAP ->
                send.compareAndSwap(
                        request.wrId(),
                        address(request.remote()),
                        request.remoteKey(),
                        request.operands().compareAdd(),
                        request.operands().swap(),
                        flags);
            case FETCH_AND_ADD ->
                send.fetchAndAdd(
                        request.wrId(),
                        address(request.remote()),
                        request.remoteKey(),
                        request.operands().compareAdd(),
                        flags);
            default -> send.read(request.wrId(), address(request.remote()), request.remoteKey(), flags);
        }
    }

    private void fillWrite(WalkRequest request, int flags) {
        long address = address(request.remote());
        int key = request.remoteKey();
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
}
