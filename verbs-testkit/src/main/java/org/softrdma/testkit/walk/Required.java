package org.softrdma.testkit.walk;

import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.WorkCompletion;

/** What a completion must be: else the walk has failed. */
final class Required {
    private Required() {}

    static void that(boolean holds, WorkCompletion completion, WalkRequest request, WalkEnd end, String otherwise) {
        if (!holds) {
            throw new WalkFailure(
                    completion + " of " + request + " on " + end + ": " + otherwise + "; " + end.connection());
        }
    }

    static void error(WalkEnd end, WorkCompletion completion, WalkRequest request) {
        that(
                end.verbs().state() == QueuePairState.ERROR,
                completion,
                request,
                end,
                "its queue pair is " + end.verbs().state());
    }
}
