package org.softrdma.kv.client.rdma;

import org.softrdma.verbs.WorkCompletion;

/** Whose work a {@link MemberLoop} hands out. Called by the thread of the loop. */
public interface LoopMember {
    /**
     * A work request of this member is done.
     *
     * @param completion valid until this returns
     * @param nowNs the time when it was taken
     */
    void complete(WorkCompletion completion, long nowNs);

    /** Posts the work that it has prepared, if any. A failure is its own: no exception is thrown. */
    void postPrepared();

    /**
     * Sends a touch report if one is due.
     *
     * @param nowNs the time
     */
    void reportTouches(long nowNs);
}
