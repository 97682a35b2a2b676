package org.softrdma.kv.client.rdma;

/**
 * How many work requests a reader may have on its queue pair.
 *
 * @param window READs that may be outstanding, besides one of a command
 */
record QueueDepth(int window) {
    /** READs of all slots, the hello and a touch report. */
    int sends() {
        return window + 3;
    }

    /** Answers to an rget for each slot, to the hello and to a touch report. */
    int receives() {
        return window + 3;
    }

    /** Completions that may be outstanding. */
    int completions() {
        return sends() + receives();
    }
}
