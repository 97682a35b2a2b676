package org.softrdma.testkit.walk;

import java.util.Deque;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.QueuePairState;
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
            require(queue == end.sendCompletions(), completion, send, "it is in the wrong completion queue");
            judgeSend(end, send, completion);
            return;
        }
        WalkRequest receive = end.receives().peekFirst();
        if (receive == null || receive.wrId() != completion.wrId()) {
            throw new WalkFailure(completion + " on " + end + ": no such request is outstanding, or it is not its turn;"
                    + " next RECV: " + receive + ", send queue: " + end.sends());
        }
        require(queue == end.receiveCompletions(), completion, receive, "it is in the wrong completion queue");
        judgeReceive(end, receive, completion);
    }

    private static OptionalInt immediate(WorkCompletion received) {
        return received.hasImmediate() ? OptionalInt.of(received.immediate()) : OptionalInt.empty();
    }

    private static @Nullable WalkRequest find(Deque<WalkRequest> requests, long wrId) {
        return requests.stream()
                .filter(request -> request.wrId() == wrId)
                .findFirst()
                .orElse(null);
    }

    private static void require(boolean holds, WorkCompletion completion, WalkRequest request, String otherwise) {
        if (!holds) {
            throw new WalkFailure(completion + " of " + request + " on " + request.end() + ": " + otherwise + "; "
                    + request.end().connection());
        }
    }

    // ---- send queues

    private void judgeSend(WalkEnd end, WalkRequest request, WorkCompletion completion) {
        for (Iterator<WalkRequest> earlier = end.sends().iterator(); earlier.hasNext(); ) {
            WalkRequest each = earlier.next();
            if (each == request) {
                earlier.remove();
                break;
            }
            require(
                    !each.isSignalled() && !end.sendFailed() && each.fault() != Fault.LOCAL,
                    completion,
                    request,
                    "it overtakes " + each);
            earlier.remove();
            succeed(end, each);
        }
        if (completion.isSuccess()) {
            require(!end.sendFailed(), completion, request, "it succeeds behind one that failed");
            require(request.isSignalled(), completion, request, "it was not signalled");
            require(completion.opcode() == request.kind(), completion, request, "it was a " + request.kind());
            long bytes = request.isAnswered() ? request.length() : 0;
            require(completion.byteLength() == bytes, completion, request, "expected " + bytes + " bytes");
            succeed(end, request);
            return;
        }
        require(
                allowed(end, request).contains(completion.status()),
                completion,
                request,
                "allowed are " + allowed(end, request));
        end.failSends();
        requireError(end, completion, request);
        request.release(false);
        if (request.isAnswered()) {
            request.forgetWrittenHere();
        }
    }

    private static void requireError(WalkEnd end, WorkCompletion completion, WalkRequest request) {
        require(
                end.verbs().state() == QueuePairState.ERROR,
                completion,
                request,
                "its queue pair is " + end.verbs().state());
    }

    private Set<CompletionStatus> allowed(WalkEnd end, WalkRequest request) {
        Set<CompletionStatus> allowed = EnumSet.noneOf(CompletionStatus.class);
        Set<Feature> features = end.node().features();
        boolean told = features.contains(request.isAnswered() ? Feature.REMOTE_READ_STATUSES : Feature.REMOTE_STATUSES);
        if (end.sendFailed() || end.connection().mayEndWithout(request)) {
            allowed.add(CompletionStatus.FLUSHED);
        }
        if (request.fault() == Fault.LOCAL || request.isVulnerable()) {
            allowed.add(CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
        if (request.fault() == Fault.REMOTE || request.isVulnerable()) {
            allowed.add(told ? CompletionStatus.REMOTE_ACCESS_ERROR : CompletionStatus.FLUSHED);
        }
        if (told && end.connection().mayEndWithout(request)) {
            allowed.add(CompletionStatus.REMOTE_OPERATION_ERROR);
            allowed.add(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        }
        if (end.connection().hostMayBeGone()) {
            allowed.add(CompletionStatus.RETRY_EXCEEDED_ERROR);
        }
        return allowed;
    }

    /** A request of a send queue has succeeded: so its bytes are where they should be, and WRITEs before a READ too. */
    private void succeed(WalkEnd end, WalkRequest request) {
        boolean acknowledged = end.node().features().contains(Feature.ACKNOWLEDGED_WRITES);
        if (request.fault() == Fault.LOCAL
                || (request.fault() == Fault.REMOTE && (acknowledged || request.isAnswered()))) {
            throw new WalkFailure(request + " on " + end + " succeeded");
        }
        if (request.isAnswered()) {
            place(end, request.wrId() + (request.isAtomic() ? 1 : 0));
            arrive(request, request.data(), request.isTainted());
        }
        request.release(false);
    }

    /** The peer's memory has every WRITE and atomic of this end before a request. */
    private static void place(WalkEnd end, long wrId) {
        List<WalkRequest> unplaced = end.unplaced();
        while (!unplaced.isEmpty() && unplaced.getFirst().wrId() < wrId) {
            WalkRequest write = unplaced.removeFirst();
            if (write.fault() != Fault.NONE) {
                throw new WalkFailure(
                        write + " on " + end + " was to be refused, and a request behind it has succeeded");
            }
            Part target = write.remote();
            for (Claim claim : write.claims()) {
                if (claim.writes() && write.isAtPeer(claim)) {
                    claim.buffer().put(target.from(), write.written(), 0, write.length());
                    if (write.isTainted()) {
                        claim.buffer().forget(claim.from(), claim.to());
                    }
                }
            }
            write.releaseAtPeer();
            target.region().buffer().check();
        }
    }

    /** Bytes have come into local buffers. */
    private static void arrive(WalkRequest request, KnownBytes data, boolean unknown) {
        if (unknown || request.isTainted() || request.isVulnerable()) {
            request.forgetWritten();
            return;
        }
        int from = 0;
        for (Part part : request.parts()) {
            int length = Math.min(part.length(), data.bytes().length - from);
            if (length > 0) {
                part.region().buffer().put(part.from(), data, from, length);
                from += length;
            }
        }
        request.release(true);
        request.parts().forEach(part -> part.region().buffer().check());
    }

    // ---- receive queues

    private void judgeReceive(WalkEnd end, WalkRequest request, WorkCompletion completion) {
        end.receives().removeFirst();
        WalkEnd peer = end.peer();
        WalkRequest message =
                end.received() < peer.messages().size() ? peer.messages().get(end.received()) : null;
        if (!completion.isSuccess()) {
            Set<CompletionStatus> allowed = EnumSet.noneOf(CompletionStatus.class);
            if (end.connection().mayEnd()) {
                allowed.add(CompletionStatus.FLUSHED);
            }
            if (message != null && !end.receiveFailed()) {
                if (!message.isOneSided() && message.length() > request.length()) {
                    allowed.add(CompletionStatus.LOCAL_LENGTH_ERROR);
                }
                if (request.fault() == Fault.LOCAL || request.isVulnerable()) {
                    allowed.add(CompletionStatus.LOCAL_PROTECTION_ERROR);
                }
            }
            require(allowed.contains(completion.status()), completion, request, "allowed are " + allowed);
            end.failReceives();
            requireError(end, completion, request);
            request.forgetWritten();
            return;
        }
        require(!end.receiveFailed(), completion, request, "it succeeds behind one that failed");
        if (message == null) {
            throw new WalkFailure(completion + " of " + request + " on " + end + ": the peer has sent nothing");
        }
        boolean written = message.isOneSided();
        CompletionOpcode opcode = written ? CompletionOpcode.RECEIVE_WRITE_IMMEDIATE : CompletionOpcode.RECEIVE;
        require(completion.opcode() == opcode, completion, request, "the message was " + message);
        require(completion.byteLength() == message.length(), completion, request, "the message was " + message);
        require(
                message.operands().immediate().equals(immediate(completion)),
                completion,
                request,
                "the message was " + message);
        if (written) {
            require(message.fault() == Fault.NONE, completion, request, message + " was to be refused");
            end.receivedOne();
            place(peer, message.wrId() + 1);
            request.releaseAll(); // Nothing is put into its buffer.
            request.parts().forEach(part -> part.region().buffer().check());
            return;
        }
        require(message.length() <= request.length(), completion, request, "too short for " + message);
        require(
                message.length() == 0 || (request.fault() == Fault.NONE && message.fault() == Fault.NONE),
                completion,
                request,
                "it was to be refused, and so was " + message);
        end.receivedOne();
        place(peer, message.wrId());
        arrive(request, message.data(), message.isTainted());
    }
}
