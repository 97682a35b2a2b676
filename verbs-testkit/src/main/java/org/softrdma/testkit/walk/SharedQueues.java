package org.softrdma.testkit.walk;

import java.util.List;
import java.util.Optional;
import org.softrdma.verbs.Feature;

/** Makes shared receive queues, sets their limits, fills and closes them. The walk's thread. */
final class SharedQueues {
    private static final int MOST = 2;
    private static final int MOST_ENTRIES = 3;
    private static final int USED = 60;

    private final WalkState state;
    private final ReceivePoster receives;

    SharedQueues(WalkState state, ReceivePoster receives) {
        this.state = state;
        this.receives = receives;
    }

    boolean make(WalkNode node) {
        if (!state.uses(node, Feature.SHARED_RECEIVE_QUEUES)
                || node.sharedQueues().size() >= MOST) {
            return false;
        }
        WalkDomain domain = state.any(node.domains()).orElseThrow();
        int size = state.between(1, WalkQueue.MOST_REQUESTS);
        state.note("create a shared queue of " + size + " at " + node);
        return domain.sharedQueues()
                .add(new WalkSharedQueue(
                        domain.verbs().createSharedReceiveQueue(size, state.between(1, MOST_ENTRIES)), domain));
    }

    /** A queue for a new queue pair, or none. */
    Optional<WalkSharedQueue> choose(WalkNode node) {
        List<WalkSharedQueue> all = node.sharedQueues();
        return all.isEmpty() || !state.percent(USED) ? Optional.empty() : state.any(all);
    }

    boolean post(WalkNode node) {
        WalkSharedQueue queue = state.any(node.sharedQueues()).orElse(null);
        return queue != null && receives.post(node, queue);
    }

    /** Sets a limit, or takes it back. */
    boolean arm(WalkNode node) {
        WalkSharedQueue queue = state.any(node.sharedQueues()).orElse(null);
        if (queue == null || !state.uses(node, Feature.ASYNC_EVENTS)) {
            return false;
        }
        int most = Math.min(queue.verbs().maxWorkRequests(), queue.receives().size() + 1);
        int limit = state.percent(10) ? 0 : state.between(1, most);
        state.note("arm " + queue + " at " + limit);
        queue.limits().arm(limit);
        queue.changed();
        queue.verbs().arm(limit);
        return true;
    }

    /** Closes one that nobody uses: its RECVs never complete. */
    boolean closeIdle(WalkNode node) {
        for (WalkSharedQueue queue : node.sharedQueues()) {
            if (queue.ends().isEmpty()) {
                close(queue);
                return true;
            }
        }
        return false;
    }

    void close(WalkSharedQueue queue) {
        state.note("close " + queue);
        queue.verbs().close();
        queue.domain().sharedQueues().remove(queue);
        for (WalkRequest receive : queue.receives().values()) {
            receive.forgetWritten();
            receive.parts().forEach(part -> part.region().buffer().check());
        }
    }
}
