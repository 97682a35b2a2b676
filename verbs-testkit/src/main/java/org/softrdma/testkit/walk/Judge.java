package org.softrdma.testkit.walk;

import java.util.Deque;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.WorkCompletion;

/**
 * Polls completion queues and says what each completion must be: of a live queue pair, in the order of its queue, with
 * a status that something explains, and with the right bytes. The walk's thread.
 */
final class Judge {
    private static final int MOST_AT_ONCE = 8;

    private final WalkState state;
    private final WorkCompletion[] completions = WorkCompletion.array(MOST_AT_ONCE);

    Judge(WalkState state) {
        this.state = state;
    }

    /** Polls once; returns how many completions there were. */
    int poll(WalkQueue queue) {
        int count = queue.verbs().poll(completions, state.between(1, MOST_AT_ONCE));
        for (int i = 0; i < count; i++) {
            WorkCompletion completion = completions[i];
            state.note("polled " + completion);
            state.count("completions " + completion.status());
            WalkEnd end = queue.end(completion.qpNumber());
            if (end == null) {
                throw new WalkFailure(completion + " is of a queue pair that is closed, or uses another queue");
            }
            judge(queue, end, completion);
        }
        return count;
    }

    /** Polls every queue of the live nodes until all are empty. */
    void pollAll() {
        for (WalkNode node : state.liveNodes()) {
            for (WalkQueue queue : node.queues()) {
                while (poll(queue) > 0) {
                    // More may have come.
                }
            }
        }
    }

    private void judge(WalkQueue queue, WalkEnd end, WorkCompletion completion) {
        WalkRequest send = find(end.sends(), completion.wrId());
        if (send != null) {
            Required.that(queue == end.sendCompletions(), completion, send, end, "it is in the wrong completion queue");
            judgeSend(end, send, completion);
            return;
        }
        WalkRequest receive = end.receive(completion.wrId());
        if (receive == null) {
            throw new WalkFailure(completion + " on " + end + ": no such request is outstanding, or it is not its turn;"
                    + " RECVs: " + end.receives() + ", shared: " + end.shared() + ", send queue: " + end.sends());
        }
        Required.that(
                queue == end.receiveCompletions(), completion, receive, end, "it is in the wrong completion queue");
        ReceiveJudge.judge(end, receive, completion);
    }

    private static @Nullable WalkRequest find(Deque<WalkRequest> requests, long wrId) {
        return requests.stream()
                .filter(request -> request.wrId() == wrId)
                .findFirst()
                .orElse(null);
    }

    // ---- send queues

    private void judgeSend(WalkEnd end, WalkRequest request, WorkCompletion completion) {
        for (Iterator<WalkRequest> earlier = end.sends().iterator(); earlier.hasNext(); ) {
            WalkRequest each = earlier.next();
            if (each == request) {
                earlier.remove();
                break;
            }
            Required.that(
                    !each.isSignalled() && !end.sendFailed() && each.fault() != Fault.LOCAL,
                    completion,
                    request,
                    end,
                    "it overtakes " + each);
            earlier.remove();
            succeed(end, each);
        }
        if (completion.isSuccess()) {
            Required.that(!end.sendFailed(), completion, request, end, "it succeeds behind one that failed");
            Required.that(request.isSignalled(), completion, request, end, "it was not signalled");
            Required.that(
                    completion.opcode() == request.kind(), completion, request, end, "it was a " + request.kind());
            long bytes = request.isAnswered() ? request.length() : 0;
            Required.that(completion.byteLength() == bytes, completion, request, end, "expected " + bytes + " bytes");
            succeed(end, request);
            return;
        }
        Required.that(
                allowed(end, request).contains(completion.status()),
                completion,
                request,
                end,
                "allowed are " + allowed(end, request));
        end.failSends();
        Required.error(end, completion, request);
        request.release(false);
        if (request.isAnswered()) {
            request.forgetWrittenHere();
        }
        if (request.kind() == CompletionOpcode.BIND_WINDOW) {
            Bindings.failed(request, completion.status());
        }
    }

    private Set<CompletionStatus> allowed(WalkEnd end, WalkRequest request) {
        Set<CompletionStatus> allowed = EnumSet.noneOf(CompletionStatus.class);
        Set<Feature> features = end.node().features();
        boolean told = features.contains(request.isAnswered() ? Feature.REMOTE_READ_STATUSES : Feature.REMOTE_STATUSES);
        if (end.sendFailed() || end.connection().mayEndWithout(request)) {
            allowed.add(CompletionStatus.FLUSHED);
        }
        if (request.fault() == Fault.LOCAL || request.isVulnerable()) {
            allowed.add(ofThisSide(request.kind()));
        }
        if (request.fault() == Fault.REMOTE || request.isVulnerable()) {
            allowed.add(told ? CompletionStatus.REMOTE_ACCESS_ERROR : CompletionStatus.FLUSHED);
        }
        boolean invalidation = request.invalidatesAtPeer() && (request.fault() != Fault.NONE || request.isVulnerable());
        if (told && (invalidation || end.connection().mayEndWithout(request))) {
            allowed.add(CompletionStatus.REMOTE_OPERATION_ERROR);
            allowed.add(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        }
        if (end.connection().hostMayBeGone()) {
            allowed.add(CompletionStatus.RETRY_EXCEEDED_ERROR);
        }
        return allowed;
    }

    /** How a request fails for what it names on its own side. */
    private static CompletionStatus ofThisSide(CompletionOpcode kind) {
        return switch (kind) {
            case BIND_WINDOW -> CompletionStatus.MEMORY_WINDOW_BIND_ERROR;
            case INVALIDATE -> CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
            default -> CompletionStatus.LOCAL_PROTECTION_ERROR;
        };
    }

    /** A request of a send queue has succeeded: so its bytes are where they should be, and WRITEs before a READ too. */
    private void succeed(WalkEnd end, WalkRequest request) {
        boolean acknowledged = end.node().features().contains(Feature.ACKNOWLEDGED_WRITES);
        if (request.fault() == Fault.LOCAL
                || (request.fault() == Fault.REMOTE && (acknowledged || request.isAnswered()))) {
            throw new WalkFailure(request + " on " + end + " succeeded");
        }
        if (request.isAnswered()) {
            PlacedBytes.place(end, request.wrId() + (request.isAtomic() ? 1 : 0));
            PlacedBytes.arrive(request, request.data(), request.isTainted());
        }
        request.release(false);
        WalkBinding binding = request.binding();
        if (binding != null && request.kind() == CompletionOpcode.BIND_WINDOW) {
            binding.succeeded();
        }
        if (binding != null && request.kind() == CompletionOpcode.INVALIDATE) {
            Bindings.gone(binding);
        }
    }
}
