package org.softrdma.testkit.walk;

import java.util.List;
import java.util.Optional;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.Feature;

/** Makes completion queues with room for what may complete, and changes their sizes. The walk's thread. */
final class CompletionQueues {
    private static final int MOST = 4;
    private static final int ENTRIES = 400;
    /** Room for the completions of a new queue pair. */
    private static final int ROOM = WalkQueue.MOST_REQUESTS * 4;

    private final WalkState state;

    CompletionQueues(WalkState state) {
        this.state = state;
    }

    boolean make(WalkNode node) {
        if (node.queues().size() >= MOST) {
            return false;
        }
        CompletionChannel channel = state.percent(50) ? node.device().createCompletionChannel() : null;
        int entries = state.between(ROOM, ENTRIES);
        state.note("create queue " + node.queues().size() + " of " + node + " for " + entries);
        return node.queues()
                .add(new WalkQueue(
                        channel == null
                                ? node.device().createCompletionQueue(entries)
                                : node.device().createCompletionQueue(entries, channel, 0),
                        channel));
    }

    /** Those that have room for a new queue pair. */
    List<WalkQueue> roomy(WalkNode node) {
        return node.queues().stream().filter(queue -> queue.hasRoom(ROOM)).toList();
    }

    /** One of its own for a new queue pair. */
    WalkQueue own(WalkNode node) {
        WalkQueue queue = new WalkQueue(node.device().createCompletionQueue(ENTRIES), null);
        node.queues().add(queue);
        return queue;
    }

    /** Changes the size of a queue, with completions in it or not; there is always room for what may come. */
    boolean resize(WalkNode node) {
        Optional<WalkQueue> any = state.any(node.queues());
        if (!state.uses(node, Feature.QUEUE_RESIZE) || any.isEmpty()) {
            return false;
        }
        WalkQueue queue = any.get();
        int entries = state.between(Math.max(1, queue.promised()), ENTRIES);
        state.note("resize a queue of " + node + " from " + queue.verbs().entries() + " to " + entries);
        queue.verbs().resize(entries);
        if (queue.verbs().entries() < entries) {
            throw new WalkFailure("a queue that was to have " + entries + " entries has "
                    + queue.verbs().entries());
        }
        return true;
    }
}
