package org.softrdma.testkit.walk;

import java.util.EnumSet;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.WorkCompletion;

/** Says what the completion of a RECV must be: of the next message of the peer, whole, or an error that something explains. */
final class ReceiveJudge {
    private ReceiveJudge() {}

    /** The completion of a RECV that was outstanding, and is no more. */
    static void judge(WalkEnd end, WalkRequest request, WorkCompletion completion) {
        end.removeReceive(request);
        WalkEnd peer = end.peer();
        WalkRequest message =
                end.received() < peer.messages().size() ? peer.messages().get(end.received()) : null;
        if (completion.isSuccess()) {
            succeeded(end, request, completion, message);
        } else {
            failed(end, request, completion, message);
        }
        WalkSharedQueue shared = end.shared();
        if (shared != null) {
            shared.changed();
        }
    }

    private static void failed(
            WalkEnd end, WalkRequest request, WorkCompletion completion, @Nullable WalkRequest message) {
        Set<CompletionStatus> allowed = EnumSet.noneOf(CompletionStatus.class);
        // Of a shared queue only the RECV that a message has taken: the others are not this queue pair's.
        boolean flushable = end.shared() == null || (message != null && !end.receiveFailed());
        if (end.connection().mayEnd() && flushable) {
            allowed.add(CompletionStatus.FLUSHED);
        }
        if (message != null && !end.receiveFailed()) {
            if (!message.isOneSided() && message.length() > request.length()) {
                allowed.add(CompletionStatus.LOCAL_LENGTH_ERROR);
            }
            if (request.fault() == Fault.LOCAL || request.isVulnerable()) {
                allowed.add(CompletionStatus.LOCAL_PROTECTION_ERROR);
            }
            if (message.invalidatesAtPeer() && (message.fault() == Fault.REMOTE || message.isVulnerable())) {
                allowed.add(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
            }
        }
        Required.that(allowed.contains(completion.status()), completion, request, end, "allowed are " + allowed);
        end.failReceives();
        Required.error(end, completion, request);
        request.forgetWritten();
    }

    private static void succeeded(
            WalkEnd end, WalkRequest request, WorkCompletion completion, @Nullable WalkRequest message) {
        Required.that(!end.receiveFailed(), completion, request, end, "it succeeds behind one that failed");
        if (message == null) {
            throw new WalkFailure(completion + " of " + request + " on " + end + ": the peer has sent nothing");
        }
        String was = "the message was " + message;
        boolean written = message.isOneSided();
        CompletionOpcode opcode = written ? CompletionOpcode.RECEIVE_WRITE_IMMEDIATE : CompletionOpcode.RECEIVE;
        Required.that(completion.opcode() == opcode, completion, request, end, was);
        Required.that(completion.byteLength() == message.length(), completion, request, end, was);
        Required.that(
                message.operands().immediate().equals(immediate(completion))
                        && message.operands().invalidatedKey().equals(invalidatedKey(completion)),
                completion,
                request,
                end,
                was);
        boolean refused = message.fault() != Fault.NONE && (written || message.invalidatesAtPeer());
        Required.that(!refused, completion, request, end, message + " was to be refused");
        if (written) {
            end.receivedOne();
            PlacedBytes.place(end.peer(), message.wrId() + 1);
            request.releaseAll(); // Nothing is put into its buffer.
            request.parts().forEach(part -> part.region().buffer().check());
            return;
        }
        Required.that(message.length() <= request.length(), completion, request, end, "too short for " + message);
        Required.that(
                message.length() == 0 || (request.fault() == Fault.NONE && message.fault() == Fault.NONE),
                completion,
                request,
                end,
                "it was to be refused, and so was " + message);
        end.receivedOne();
        PlacedBytes.place(end.peer(), message.wrId());
        PlacedBytes.arrive(request, message.data(), message.isTainted());
        WalkBinding binding = message.binding();
        if (binding != null) {
            Bindings.gone(binding);
        }
    }

    private static OptionalInt immediate(WorkCompletion received) {
        return received.hasImmediate() ? OptionalInt.of(received.immediate()) : OptionalInt.empty();
    }

    private static OptionalInt invalidatedKey(WorkCompletion received) {
        return received.hasInvalidatedKey() ? OptionalInt.of(received.invalidatedKey()) : OptionalInt.empty();
    }
}
