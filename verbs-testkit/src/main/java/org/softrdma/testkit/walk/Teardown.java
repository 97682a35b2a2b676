package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.List;

/** Closes what a walk has opened. The walk's thread. */
final class Teardown {
    private final WalkState state;
    private final SharedQueues sharedQueues;

    Teardown(WalkState state, SharedQueues sharedQueues) {
        this.state = state;
        this.sharedQueues = sharedQueues;
    }

    /** Everything of the live nodes, whose queue pairs are closed: so nothing can be refused. */
    void closeAll() {
        for (WalkNode node : state.liveNodes()) {
            node.sharedQueues().forEach(sharedQueues::close); // before the regions of their RECVs
            // Windows of closed queue pairs are bound to nothing, and so hold no region.
            boolean regionsFirst = !node.windows().isEmpty() && state.percent(50);
            if (!regionsFirst) {
                node.windows().forEach(window -> window.verbs().close());
            }
            node.regions().forEach(region -> region.verbs().close());
            if (regionsFirst) {
                node.windows().forEach(window -> window.verbs().close());
            }
            node.domains().forEach(domain -> domain.verbs().close());
            node.queues().forEach(WalkQueue::close);
            node.listener().close();
            node.device().close();
        }
    }

    /** After a failure: gives back what it can, so that a process can go on with another walk. */
    void release(WalkFailure failure) {
        for (WalkNode node : state.liveNodes()) {
            List<AutoCloseable> all = new ArrayList<>();
            node.ends().forEach(end -> all.add(end.verbs()));
            node.windows().forEach(window -> all.add(window.verbs()));
            node.regions().forEach(region -> all.add(region.verbs()));
            node.sharedQueues().forEach(queue -> all.add(queue.verbs()));
            node.domains().forEach(domain -> all.add(domain.verbs()));
            node.queues().forEach(queue -> all.add(queue::close));
            all.add(node.listener());
            all.add(node.device());
            for (AutoCloseable each : all) {
                try {
                    each.close();
                } catch (Exception e) {
                    failure.addSuppressed(e);
                }
            }
        }
    }
}
