package org.softrdma.testkit.walk;

import java.util.EnumSet;
import java.util.List;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SharedReceiveQueue;

/** Calls that every device refuses at once, and that change nothing. The walk's thread. */
final class Misuse {
    private static final int UNKNOWN_FLAG = 1 << 20;

    private final WalkState state;

    Misuse(WalkState state) {
        this.state = state;
    }

    /** Closes something that has children. */
    boolean closeBusy(WalkNode node) {
        if (node.domains().isEmpty()) {
            return false;
        }
        RefusedCalls.requireBusy("closing the device of " + node, node.device()::close);
        for (WalkDomain domain : node.domains()) {
            if (domain.isBusy()) {
                RefusedCalls.requireBusy("closing a domain with something in it", domain.verbs()::close);
            }
        }
        for (WalkQueue queue : node.queues()) {
            if (queue.isBusy()) {
                RefusedCalls.requireBusy("closing a completion queue in use", queue.verbs()::close);
            }
            if (queue.channel() != null) {
                RefusedCalls.requireBusy("closing a channel in use", queue.channel()::close);
            }
        }
        for (WalkSharedQueue queue : node.sharedQueues()) {
            if (!queue.ends().isEmpty()) {
                RefusedCalls.requireBusy("closing a shared queue in use", queue.verbs()::close);
            }
        }
        state.note("close what is in use at " + node);
        return true;
    }

    /** Closes a domain or a queue that nobody uses. */
    boolean closeIdle(WalkNode node) {
        for (WalkDomain domain : List.copyOf(node.domains())) {
            if (!domain.isBusy() && node.domains().size() > 1) {
                state.note("close an empty domain of " + node);
                domain.verbs().close();
                return node.domains().remove(domain);
            }
        }
        for (WalkQueue queue : List.copyOf(node.queues())) {
            if (!queue.isBusy()) {
                state.note("close an unused queue of " + node);
                queue.close();
                return node.queues().remove(queue);
            }
        }
        return false;
    }

    /** Registers what can never be registered. */
    boolean registerWrongly(WalkNode node) {
        WalkBuffer buffer = state.any(node.buffers()).orElse(null);
        if (buffer == null) {
            return false;
        }
        WalkDomain domain = state.any(node.domains()).orElseThrow();
        state.note("register wrongly at " + node);
        RefusedCalls.requireIllegal(
                "REMOTE_WRITE without LOCAL_WRITE",
                () -> domain.verbs()
                        .register(buffer.segment(), EnumSet.of(AccessFlag.REMOTE_WRITE))
                        .close());
        RefusedCalls.requireIllegal(
                "a region of 0 bytes",
                () -> domain.verbs()
                        .register(buffer.segment().asSlice(0, 0), EnumSet.of(AccessFlag.LOCAL_WRITE))
                        .close());
        return true;
    }

    /** Posts what can never be posted. */
    boolean postWrongly(WalkEnd end) {
        WalkRegion region = state.any(end.domain().regions()).orElse(null);
        if (region == null) {
            return false;
        }
        state.note("post wrongly on " + end);
        RefusedCalls.requireIllegal(
                "an unknown flag", () -> posted(end.verbs().postSend(0, region.verbs(), 0, 1, UNKNOWN_FLAG)));
        RefusedCalls.requireIllegal(
                "an inline READ",
                () -> posted(
                        end.verbs().postRead(0, region.verbs(), 0, 1, region.base(), region.key(), SendFlags.INLINE)));
        SendWorkRequest request = new SendWorkRequest().send(0, SendFlags.SIGNALLED);
        for (int i = end.verbs().limits().maxSendScatterGather(); i >= 0; i--) {
            request.add(region.verbs(), 0, 1);
        }
        RefusedCalls.requireIllegal("too many entries", () -> posted(end.verbs().post(request)));
        return true;
    }

    /** A queue pair on a shared queue has no RECVs of its own; sizes and limits have bounds. */
    boolean shareWrongly(WalkNode node) {
        WalkSharedQueue queue = state.any(node.sharedQueues()).orElse(null);
        if (queue == null) {
            return false;
        }
        state.note("use " + queue + " wrongly");
        SharedReceiveQueue verbs = queue.verbs();
        if (state.uses(node, Feature.ASYNC_EVENTS)) {
            RefusedCalls.requireIllegal("a limit out of range", () -> verbs.arm(verbs.maxWorkRequests() + 1));
        }
        for (WalkEnd end : queue.ends()) {
            WalkRegion region = state.any(end.domain().regions()).orElse(null);
            if (region != null) {
                RefusedCalls.requireIllegalState(
                        "a RECV beside a shared queue", () -> posted(end.verbs().postReceive(0, region.verbs(), 0, 1)));
            }
        }
        return true;
    }

    private static void posted(PostStatus status) {
        throw new WalkFailure("what can never be posted was " + status);
    }
}
