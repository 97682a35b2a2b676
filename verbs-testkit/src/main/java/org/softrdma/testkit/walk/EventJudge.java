package org.softrdma.testkit.walk;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.CompletionQueueEvent;
import org.softrdma.verbs.AsyncEvent.DeviceEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.QueuePairState;

/**
 * Takes the asynchronous events of devices and says what each must be: of an object that is open, with a reason, and
 * once. The walk's thread.
 */
final class EventJudge {
    private final WalkState state;

    EventJudge(WalkState state) {
        this.state = state;
    }

    /** Takes every event that a node has now. */
    boolean take(WalkNode node) {
        if (!state.uses(node, Feature.ASYNC_EVENTS)) {
            return false;
        }
        while (true) {
            Optional<AsyncEvent> event = node.device().awaitEvent(0);
            if (event.isEmpty()) {
                return true;
            }
            judge(node, event.get());
        }
    }

    /** Takes every event that the live nodes have now. */
    void takeAll() {
        for (WalkNode node : state.liveNodes()) {
            take(node);
        }
    }

    /** An event that is still to come; null if there is none. */
    @Nullable
    String missing() {
        for (WalkNode node : state.liveNodes()) {
            if (state.uses(node, Feature.ASYNC_EVENTS)) {
                for (WalkSharedQueue queue : node.sharedQueues()) {
                    if (queue.limits().isDue()) {
                        return "no limit event of " + queue + " at " + node + " has come";
                    }
                }
                for (WalkEnd end : node.ends()) {
                    if (end.shared() != null && isInError(end) && !end.lastReached()) {
                        return end + " is in error, and no event says that it takes no more shared RECVs";
                    }
                }
            }
        }
        return null;
    }

    private void judge(WalkNode node, AsyncEvent event) {
        switch (event) {
            case QueuePairEvent ofPair -> {
                note(node, ofPair.kind().name());
                judge(end(node, ofPair), ofPair.kind());
            }
            case SharedReceiveQueueEvent ofQueue -> {
                note(node, ofQueue.kind().name());
                judge(queue(node, ofQueue), ofQueue.kind());
            }
            case CompletionQueueEvent ofCompletions ->
                throw new WalkFailure("a completion queue of " + node + " has overrun: " + ofCompletions);
            case DeviceEvent ofDevice -> note(node, ofDevice.kind().name());
        }
    }

    private void note(WalkNode node, String kind) {
        state.note("event " + kind + " of " + node);
        state.count("event " + kind);
    }

    private static WalkEnd end(WalkNode node, QueuePairEvent event) {
        return node.ends().stream()
                .filter(end -> end.verbs() == event.queuePair())
                .findFirst()
                .orElseThrow(() -> new WalkFailure(event + " at " + node + " is of no open queue pair"));
    }

    private static WalkSharedQueue queue(WalkNode node, SharedReceiveQueueEvent event) {
        return node.sharedQueues().stream()
                .filter(queue -> queue.verbs() == event.sharedReceiveQueue())
                .findFirst()
                .orElseThrow(() -> new WalkFailure(event + " at " + node + " is of no open queue"));
    }

    private static void judge(WalkEnd end, QueuePairEvent.Kind kind) {
        boolean expected = switch (kind) {
            case LAST_REQUEST_REACHED -> end.shared() != null && isInError(end) && !end.lastReached();
            case ACCESS_ERROR, REQUEST_ERROR -> end.connection().mayEnd();
            case FATAL, SEND_QUEUE_DRAINED -> false; // no walk drains
        };
        if (!expected) {
            throw new WalkFailure(
                    "event " + kind + " of " + end + ", which is " + end.verbs().state() + ", " + end.connection());
        }
        if (kind == QueuePairEvent.Kind.LAST_REQUEST_REACHED) {
            end.reachLast();
        }
    }

    private static boolean isInError(WalkEnd end) {
        return end.verbs().state() == QueuePairState.ERROR;
    }

    private static void judge(WalkSharedQueue queue, SharedReceiveQueueEvent.Kind kind) {
        if (kind != SharedReceiveQueueEvent.Kind.LIMIT_REACHED
                || !queue.limits().take()) {
            throw new WalkFailure("event " + kind + " of " + queue + ", whose limit is not reached, or was told");
        }
    }
}
