package org.softrdma.testkit.walk;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.testkit.walk.WalkRequest.Manner;
import org.softrdma.testkit.walk.WalkRequest.Operands;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;

/** Binds windows and takes their keys back, from either side, lawfully or not. The walk's thread. */
final class WindowPoster {
    private static final int FAULTY_BINDS = 6;
    private static final int FAULTY = 2;
    private static final int UNDER_REQUESTS = 40;

    private final WalkState state;
    private final Poster poster;
    private final PartChooser parts;
    private final BindChooser binds;

    WindowPoster(WalkState state, Poster poster) {
        this.state = state;
        this.poster = poster;
        parts = new PartChooser(state);
        binds = new BindChooser(state);
    }

    // ---- bind

    boolean bind(WalkEnd end) {
        if (!state.uses(end.node(), Feature.MEMORY_WINDOWS) || !poster.mayPost(end)) {
            return false;
        }
        boolean faulty = state.breaks(FAULTY_BINDS);
        WalkBinding binding = faulty ? binds.faulty(end) : binds.lawful(end);
        if (binding == null) {
            return false;
        }
        WalkWindow window = binding.window();
        WalkRequest request = request(end, CompletionOpcode.BIND_WINDOW, faulty, List.of(binding.part()))
                .about(binding);
        WalkBinding before = faulty ? bound(window) : null;
        int oldKey = window.verbs().rkey();
        if (poster.postPrepared(end, request, List.of())) {
            int key = window.verbs().rkey();
            if (key == oldKey || key == 0) {
                throw new WalkFailure("the next key of a window is 0x" + Integer.toHexString(key) + ": " + request);
            }
            window.posted(binding, !faulty);
            binding.posted(request, key);
            if (faulty) {
                binding.gone();
            }
            if (before != null) {
                before.contested(request);
            }
        }
        return true;
    }

    private static @Nullable WalkBinding bound(WalkWindow window) {
        return window.bindings().stream()
                .filter(WalkBinding::isBound)
                .findFirst()
                .orElse(null);
    }

    private WalkRequest request(WalkEnd end, CompletionOpcode kind, boolean faulty, List<Part> local) {
        Fault fault = faulty ? Fault.LOCAL : Fault.NONE;
        return new WalkRequest(state.nextId(), end, kind, poster.manner(end, kind, fault, 0), local, null, fault);
    }

    // ---- invalidate

    boolean invalidate(WalkEnd end) {
        if (!state.uses(end.node(), Feature.MEMORY_WINDOWS) || !poster.mayPost(end)) {
            return false;
        }
        return state.breaks(FAULTY) ? invalidateWrongly(end) : invalidateOwn(end);
    }

    private boolean invalidateOwn(WalkEnd end) {
        WalkBinding binding = state.any(Bindings.open(end.node()).stream()
                        .filter(each -> each.end() == end && each.isBoundInOrder() && !each.isContested())
                        .toList())
                .orElse(null);
        if (binding == null) {
            return false;
        }
        List<WalkRequest> users = Bindings.users(binding);
        if (!users.isEmpty() && !state.breaks(UNDER_REQUESTS)) {
            return false;
        }
        WalkRequest request = request(end, CompletionOpcode.INVALIDATE, false, List.of())
                .with(Operands.ofInvalidation(binding.key()))
                .about(binding);
        if (poster.postPrepared(end, request, List.of())) {
            binding.leaves(request);
            Bindings.expose(users, binding, "the invalidation");
        }
        return true;
    }

    private boolean invalidateWrongly(WalkEnd end) {
        Integer key = binds.wrongKey(end.node(), end);
        if (key == null) {
            return false;
        }
        WalkRequest request =
                request(end, CompletionOpcode.INVALIDATE, true, List.of()).with(Operands.ofInvalidation(key));
        poster.postPrepared(end, request, List.of());
        return true;
    }

    // ---- SEND with invalidate

    boolean sendInvalidate(WalkEnd end) {
        if (!state.uses(end.node(), Feature.SEND_INVALIDATE)
                || !state.uses(end.peer().node(), Feature.MEMORY_WINDOWS)
                || !poster.mayPost(end)) {
            return false;
        }
        List<Part> local = parts.sources(end.domain(), end.verbs().limits().maxSendScatterGather());
        int length = local.stream().mapToInt(Part::length).sum();
        if (local.isEmpty() || !poster.isExpected(end, length)) {
            return false;
        }
        return state.breaks(FAULTY) ? sendWrongly(end, local, length) : sendRightly(end, local, length);
    }

    private boolean sendRightly(WalkEnd end, List<Part> local, int length) {
        WalkBinding binding = state.any(Bindings.open(end.peer().node()).stream()
                        .filter(each -> each.end().peer() == end && each.isBound() && !each.isContested())
                        .toList())
                .orElse(null);
        if (binding == null) {
            return false;
        }
        // The peer answers READs later, and they need the key then; WRITEs and atomics it does in their order.
        List<WalkRequest> late = Bindings.users(binding).stream()
                .filter(user -> user.isAnswered() && end.sends().contains(user))
                .toList();
        Manner manner = poster.manner(end, CompletionOpcode.SEND, Fault.NONE, length);
        boolean fenced = manner.fenced() || (!late.isEmpty() && !state.breaks(UNDER_REQUESTS));
        WalkRequest request = new WalkRequest(
                        state.nextId(),
                        end,
                        CompletionOpcode.SEND,
                        new Manner(manner.signalled(), fenced, manner.inline()),
                        local,
                        null,
                        Fault.NONE)
                .with(Operands.ofInvalidation(binding.key()))
                .about(binding);
        if (!post(request)) {
            return false;
        }
        if (end.messages().contains(request)) {
            binding.doubt();
            binding.requests().add(request);
            if (!fenced) {
                Bindings.expose(late, binding, "the invalidation by a SEND");
            }
        }
        return true;
    }

    private boolean sendWrongly(WalkEnd end, List<Part> local, int length) {
        Integer key = binds.wrongKey(end.peer().node(), end.peer());
        if (key == null) {
            return false;
        }
        Manner manner = poster.manner(end, CompletionOpcode.SEND, Fault.REMOTE, length);
        return post(new WalkRequest(state.nextId(), end, CompletionOpcode.SEND, manner, local, null, Fault.REMOTE)
                .with(Operands.ofInvalidation(key)));
    }

    private boolean post(WalkRequest request) {
        boolean posted = poster.postWanted(request);
        if (posted) {
            state.count("posted SEND with invalidate" + (request.fault() == Fault.NONE ? "" : ", wrong key"));
        }
        return posted;
    }
}
