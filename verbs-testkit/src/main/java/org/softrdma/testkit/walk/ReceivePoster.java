package org.softrdma.testkit.walk;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.testkit.walk.WalkRequest.Manner;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ReceiveWorkRequest;

/** Posts RECVs, lawful or not, to queue pairs and to shared queues. The walk's thread. */
final class ReceivePoster {
    private static final int FAULTY = 3;

    private final WalkState state;
    private final PartChooser parts;
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();

    ReceivePoster(WalkState state) {
        this.state = state;
        parts = new PartChooser(state);
    }

    /** Posts a RECV where a queue pair takes its own from. */
    boolean post(WalkEnd end) {
        WalkSharedQueue shared = end.shared();
        if (shared != null) {
            return post(end.node(), shared);
        }
        boolean faulty = state.breaks(FAULTY);
        List<Part> sinks = faulty
                ? parts.faulty(end, CompletionOpcode.RECEIVE)
                : parts.sinks(end.domain(), end.verbs().limits().maxReceiveScatterGather());
        if (sinks.isEmpty()) {
            return false;
        }
        WalkRequest request = request(end, sinks, faulty);
        List<Claim> claims = faulty ? List.of() : Conflicts.local(request, true);
        boolean full = end.receives().size() >= end.verbs().limits().maxReceiveWorkRequests();
        if (state.isUnwanted(claims, request) || (full && state.settings().lawful())) {
            return false;
        }
        state.note("post " + request + " on " + end);
        PostStatus status = end.verbs().post(filled(request));
        if (state.accepted(request, status, full, end + " with " + end.receives())) {
            Conflicts.take(request, claims);
            end.receives().add(request);
            end.allReceives().add(request);
            Messages.posted(end);
        }
        return true;
    }

    /** Posts a RECV to a shared queue, whose domain counts. */
    boolean post(WalkNode node, WalkSharedQueue queue) {
        boolean faulty = state.breaks(FAULTY);
        List<Part> sinks = faulty
                ? parts.faulty(node, queue.domain(), CompletionOpcode.RECEIVE)
                : parts.sinks(queue.domain(), queue.verbs().maxScatterGather());
        if (sinks.isEmpty()) {
            return false;
        }
        WalkRequest request = request(null, sinks, faulty);
        List<Claim> claims = faulty ? List.of() : Conflicts.local(request, true);
        int posted = queue.receives().size();
        int room = queue.verbs().maxWorkRequests();
        if (state.isUnwanted(claims, request)
                || (posted >= room && state.settings().lawful())) {
            return false;
        }
        state.note("post " + request + " to " + queue);
        PostStatus status = post(queue, request);
        boolean refused = status == PostStatus.QUEUE_FULL;
        // Those that were lost may have given their room back.
        boolean full = posted >= room && (refused || posted - queue.lost() >= room);
        if (state.accepted(request, status, full, queue + " of " + room)) {
            Conflicts.take(request, claims);
            queue.receives().put(request.wrId(), request);
            queue.changed();
            state.count("posted shared RECV");
        }
        return true;
    }

    private PostStatus post(WalkSharedQueue queue, WalkRequest request) {
        Part first = request.parts().getFirst();
        if (request.parts().size() == 1 && first.region().isOpen() && state.percent(50)) {
            return queue.verbs().postReceive(request.wrId(), first.region().verbs(), first.offset(), first.length());
        }
        return queue.verbs().post(filled(request));
    }

    private WalkRequest request(@Nullable WalkEnd end, List<Part> sinks, boolean faulty) {
        return new WalkRequest(
                state.nextId(),
                end,
                CompletionOpcode.RECEIVE,
                new Manner(true, false, false),
                sinks,
                null,
                faulty ? Fault.LOCAL : Fault.NONE);
    }

    private ReceiveWorkRequest filled(WalkRequest request) {
        receive.receive(request.wrId());
        request.parts()
                .forEach(part -> receive.add(
                        part.region().base() + part.offset(),
                        part.length(),
                        part.region().lkey()));
        return receive;
    }
}
